//! Who may use the page: requests to a name of this machine, from the page itself, with the token.
//!
//! The `Host` check protects against DNS rebinding, the `Origin` check against other pages in the same browser. The
//! token is exchanged for a cookie by the first request, so that it stays out of addresses and histories.

use std::io;

use hyper::header::{COOKIE, HOST, HeaderMap, HeaderValue, ORIGIN};

/// The checks of one server.
#[derive(Debug)]
pub(crate) struct Access {
    token: String,
    port: u16,
}

/// Why a request is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denied {
    Host,
    Origin,
    Token,
}

impl Denied {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Host => "This `Host` is not allowed: use 127.0.0.1 or localhost.",
            Self::Origin => "This origin is not allowed.",
            Self::Token => {
                "The token is missing or wrong: open the address that `stickler` printed at its start."
            }
        }
    }
}

impl Access {
    /// Creates a random token.
    pub(crate) fn new(port: u16) -> io::Result<Self> {
        let mut bytes = [0_u8; 24];
        let filled =
            rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty())?;
        if filled != bytes.len() {
            return Err(io::Error::other("no random bytes"));
        }
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let token = digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect();
        Ok(Self { token, port })
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Checks everything but the token in the address.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Denied> {
        self.check_source(headers)?;
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let is_known = pairs.any(|(key, value)| key == name && self.is_token(value));
        if is_known { Ok(()) } else { Err(Denied::Token) }
    }

    /// Checks where a request goes to and comes from.
    pub(crate) fn check_source(&self, headers: &HeaderMap) -> Result<(), Denied> {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        if !self.is_this_server(host) {
            return Err(Denied::Host);
        }
        match headers.get(ORIGIN) {
            None => Ok(()),
            Some(origin) => {
                let own = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
                // The same name, not only the same machine.
                if own.is_some_and(|own| own == host) { Ok(()) } else { Err(Denied::Origin) }
            }
        }
    }

    fn is_this_server(&self, host: &str) -> bool {
        let names = ["127.0.0.1", "localhost", "[::1]"];
        host.rsplit_once(':')
            .is_some_and(|(name, port)| names.contains(&name) && port.parse() == Ok(self.port))
    }

    /// Compares in constant time.
    pub(crate) fn is_token(&self, given: &str) -> bool {
        let (given, token) = (given.as_bytes(), self.token.as_bytes());
        given.len() == token.len()
            && given
                .iter()
                .zip(token)
                .fold(0, |difference, (one, other)| difference | (one ^ other))
                == 0
    }

    /// Cookies are shared by all ports of a host, and several pages may be open.
    fn cookie_name(&self) -> String {
        format!("stickler-ui-{}", self.port)
    }

    pub(crate) fn set_cookie(&self) -> Option<HeaderValue> {
        let value =
            format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name(), self.token);
        value.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{Access, Denied};
    use hyper::header::{COOKIE, HOST, HeaderMap, ORIGIN};

    fn headers(host: &str, origin: Option<&str>, cookie: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        headers.insert(COOKIE, cookie.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        headers
    }

    #[test]
    fn only_the_page_itself_is_served() {
        let access = Access::new(4711).unwrap();
        let cookie = format!("a=b; stickler-ui-4711={}", access.token());
        let check = |host: &str, origin| access.check(&headers(host, origin, &cookie));
        assert_eq!(check("127.0.0.1:4711", None), Ok(()));
        assert_eq!(check("localhost:4711", Some("http://localhost:4711")), Ok(()));
        assert_eq!(check("evil.example:4711", None), Err(Denied::Host));
        assert_eq!(check("127.0.0.1", None), Err(Denied::Host));
        assert_eq!(check("127.0.0.1:4711", Some("http://evil.example")), Err(Denied::Origin));
        assert_eq!(check("127.0.0.1:4711", Some("http://127.0.0.1:1")), Err(Denied::Origin));
        assert_eq!(check("127.0.0.1:4711", Some("null")), Err(Denied::Origin));
    }

    #[test]
    fn token_must_be_the_whole_one() {
        let access = Access::new(1).unwrap();
        assert_eq!(access.token().len(), 48);
        assert_ne!(access.token(), Access::new(1).unwrap().token());
        for cookie in ["", "stickler-ui-1=", &format!("stickler-ui-2={}", access.token())] {
            assert_eq!(access.check(&headers("127.0.0.1:1", None, cookie)), Err(Denied::Token));
        }
        assert!(!access.is_token(&access.token()[1..]));
    }
}
