//! The files of the page, compiled into the program.

/// A file of the page.
pub(crate) struct Asset {
    pub(crate) media_type: &'static str,
    pub(crate) text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! files {
    ($($path:literal => $media_type:expr, $file:literal;)*) => {
        /// Returns the file at a path.
        pub(crate) fn find(path: &str) -> Option<Asset> {
            match path {
                $($path => Some(Asset {
                    media_type: $media_type,
                    text: include_str!(concat!("../../assets/", $file)),
                }),)*
                _ => None,
            }
        }
    };
}

files! {
    "/" => HTML, "index.html";
    "/style/tokens.css" => CSS, "tokens.css";
    "/style/page.css" => CSS, "page.css";
    "/style/detail.css" => CSS, "detail.css";
    "/script/main.js" => SCRIPT, "main.js";
    "/script/api.js" => SCRIPT, "api.js";
    "/script/dom.js" => SCRIPT, "dom.js";
    "/script/format.js" => SCRIPT, "format.js";
    "/script/sessions.js" => SCRIPT, "sessions.js";
    "/script/strip.js" => SCRIPT, "strip.js";
    "/script/timeline.js" => SCRIPT, "timeline.js";
    "/script/detail.js" => SCRIPT, "detail.js";
    "/script/json_text.js" => SCRIPT, "json_text.js";
    "/script/difference.js" => SCRIPT, "difference.js";
    "/script/editor.js" => SCRIPT, "editor.js";
    "/script/tools.js" => SCRIPT, "tools.js";
    "/favicon.svg" => "image/svg+xml", "favicon.svg";
}
