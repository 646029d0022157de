//! The key pair of the person who decides gates.
//!
//! The private key is derived from a passphrase and stored nowhere. The file contains what is
//! needed to derive it again and the public key, with which a server verifies decisions.

use std::io;
use std::num::NonZeroU32;
use std::path::Path;

use ring::pbkdf2;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

/// Recommended by OWASP for PBKDF2 with SHA-256, in 2023.
const ITERATIONS: NonZeroU32 = NonZeroU32::new(600_000).unwrap();

/// Limit on the iterations that a file may ask for.
const MAX_ITERATIONS: u32 = 20_000_000;

/// The minimum length of a passphrase, in characters.
const MIN_CHARACTERS: usize = 8;

/// The public part of the approver's key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approver {
    salt: String,
    iterations: u32,
    public_key: String,
}

/// The private key, which signs decisions.
pub struct ApproverKey {
    pair: Ed25519KeyPair,
}

impl Approver {
    /// Creates a key from a passphrase. Fails if the passphrase is too short.
    pub fn create(passphrase: &str) -> Result<Self, String> {
        if passphrase.chars().count() < MIN_CHARACTERS {
            return Err(format!("the passphrase needs at least {MIN_CHARACTERS} characters"));
        }
        let mut salt = [0; 16];
        let filled = ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut salt);
        filled.map_err(|_| "the system has no random numbers".to_owned())?;
        let key = derived(passphrase, &salt, ITERATIONS)?;
        Ok(Self {
            salt: hex(&salt),
            iterations: ITERATIONS.get(),
            public_key: hex(key.pair.public_key().as_ref()),
        })
    }

    /// Reads a file; returns `None` if it does not exist.
    pub fn load(path: &Path) -> io::Result<Option<Self>> {
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read?,
        };
        Ok(Some(serde_json::from_str(&text)?))
    }

    /// Writes a new file. Fails if it exists.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(path)?;
        io::Write::write_all(&mut file, format!("{:#}\n", serde_json::json!(self)).as_bytes())
    }

    /// Derives the private key; returns `None` if the passphrase is wrong.
    pub fn unlock(&self, passphrase: &str) -> Option<ApproverKey> {
        let iterations =
            NonZeroU32::new(self.iterations).filter(|count| count.get() <= MAX_ITERATIONS)?;
        let key = derived(passphrase, &bytes(&self.salt)?, iterations).ok()?;
        (hex(key.pair.public_key().as_ref()) == self.public_key).then_some(key)
    }

    pub(super) fn verifies(&self, message: &[u8], signature: &str) -> bool {
        let (Some(key), Some(signature)) = (bytes(&self.public_key), bytes(signature)) else {
            return false;
        };
        UnparsedPublicKey::new(&ED25519, key).verify(message, &signature).is_ok()
    }
}

impl ApproverKey {
    pub(super) fn sign(&self, message: &[u8]) -> String {
        hex(self.pair.sign(message).as_ref())
    }
}

fn derived(passphrase: &str, salt: &[u8], iterations: NonZeroU32) -> Result<ApproverKey, String> {
    let mut seed = [0; 32];
    let algorithm = pbkdf2::PBKDF2_HMAC_SHA256;
    pbkdf2::derive(algorithm, iterations, salt, passphrase.as_bytes(), &mut seed);
    let pair = Ed25519KeyPair::from_seed_unchecked(&seed);
    Ok(ApproverKey { pair: pair.map_err(|_| "the key cannot be derived".to_owned())? })
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

pub(super) fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.map(byte).collect()
}
