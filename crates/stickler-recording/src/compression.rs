//! Decompresses recordings: plain, gzip or zstd, recognised by their first bytes.

use std::io::{self, BufReader, Cursor, Read};

use flate2::read::MultiGzDecoder;

use crate::zstd::ZstdFrames;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Last bytes of the sixteen magic numbers of skippable zstd frames.
const ZSTD_SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];

/// Returns the text of a recording that may be compressed.
pub fn decompressed<'s>(mut source: impl Read + 's) -> io::Result<Box<dyn Read + 's>> {
    let mut magic = Vec::new();
    source.by_ref().take(ZSTD.len() as u64).read_to_end(&mut magic)?;
    let is_gzip = magic.starts_with(&GZIP);
    let is_zstd = magic.starts_with(&ZSTD) || is_skippable(&magic);
    let source = Cursor::new(magic).chain(source);
    Ok(if is_gzip {
        Box::new(MultiGzDecoder::new(BufReader::new(source)))
    } else if is_zstd {
        Box::new(ZstdFrames::new(BufReader::new(source)))
    } else {
        Box::new(source)
    })
}

fn is_skippable(magic: &[u8]) -> bool {
    matches!(magic, [first, rest @ ..] if first & 0xf0 == 0x50 && rest == ZSTD_SKIPPABLE)
}

#[cfg(test)]
mod tests {
    use super::decompressed;
    use std::io::{Cursor, Read as _, Write as _};

    const TEXT: &[u8] =
        b"{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"b\"}\n";

    fn read(bytes: Vec<u8>) -> std::io::Result<Vec<u8>> {
        let mut text = Vec::new();
        decompressed(Cursor::new(bytes))?.read_to_end(&mut text)?;
        Ok(text)
    }

    fn gzip() -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(TEXT).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd() -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(TEXT, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn plain_text_is_unchanged() {
        for text in [&b""[..], b"{", b"\x1f", b"{}\n", TEXT] {
            assert_eq!(read(text.to_vec()).unwrap(), text);
        }
    }

    #[test]
    fn compressed_file_may_have_several_frames() {
        let skippable = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        for bytes in [
            [gzip(), gzip()].concat(),
            [zstd(), zstd()].concat(),
            [zstd(), skippable.clone(), zstd()].concat(),
            [skippable, zstd(), zstd()].concat(),
        ] {
            assert_eq!(read(bytes).unwrap(), [TEXT, TEXT].concat());
        }
    }

    #[test]
    fn truncated_or_corrupt_frame_is_an_error() {
        for whole in [gzip(), zstd()] {
            for length in [5, whole.len() / 2, whole.len() - 1] {
                assert!(read(whole[..length].to_vec()).is_err(), "{length}");
            }
            let mut garbled = whole.clone();
            *garbled.last_mut().unwrap() ^= 1;
            assert!(read(garbled).is_err());
            assert!(read([whole, b"rest".to_vec()].concat()).is_err());
        }
    }
}
