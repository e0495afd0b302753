//! A chart as PNG, with the letters of a font that comes with fathom: servers have none.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

use super::ChartImage;
use crate::Error;

/// Pixels for each unit of a chart: sharp on paper and on dense screens.
const SCALE: f32 = 2.0;
/// The family of the font.
const FAMILY: &str = "DejaVu Sans";
/// What a PNG begins with, and how long its first part is.
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
const HEADER_BYTES: usize = 8 + 25;

/// The chart as a PNG file that names fathom as its program.
///
/// # Errors
/// The chart cannot be drawn.
pub fn png(chart: &ChartImage) -> Result<Vec<u8>, Error> {
    let failed = |why: String| Error::Image {
        name: chart.name.clone(),
        why,
    };
    let options = Options {
        font_family: FAMILY.to_owned(),
        fontdb: fonts(),
        ..Options::default()
    };
    let tree = Tree::from_str(&chart.svg, &options).map_err(|error| failed(error.to_string()))?;
    let size = tree.size().to_int_size().scale_by(SCALE);
    let picture = size.and_then(|size| Pixmap::new(size.width(), size.height()));
    let mut picture = picture.ok_or_else(|| failed("it is too large".to_owned()))?;
    let scale = Transform::from_scale(SCALE, SCALE);
    resvg::render(&tree, scale, &mut picture.as_mut());
    let bytes = picture
        .encode_png()
        .map_err(|error| failed(error.to_string()))?;
    Ok(named(bytes))
}

fn fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let load = || {
        let mut fonts = Database::new();
        fonts.load_font_data(include_bytes!("../../assets/fonts/regular.ttf").to_vec());
        fonts.load_font_data(include_bytes!("../../assets/fonts/bold.ttf").to_vec());
        fonts.set_sans_serif_family(FAMILY);
        Arc::new(fonts)
    };
    Arc::clone(FONTS.get_or_init(load))
}

/// The picture with a text that says which program wrote it, by which it is known to be
/// fathom's when it is to be replaced.
fn named(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() < HEADER_BYTES || !bytes.starts_with(SIGNATURE) {
        return bytes;
    }
    let mut text = b"tEXtSoftware\0fathom ".to_vec();
    text.extend_from_slice(env!("CARGO_PKG_VERSION").as_bytes());
    let length = (text.len() - 4) as u32;
    let sum = checksum(&text);
    let part = [&length.to_be_bytes()[..], &text, &sum.to_be_bytes()].concat();
    bytes.splice(HEADER_BYTES..HEADER_BYTES, part);
    bytes
}

/// CRC-32 of a part of a PNG (ISO 3309), bit by bit: there are few bytes.
fn checksum(bytes: &[u8]) -> u32 {
    let crc = bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    });
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(svg: &str) -> ChartImage {
        ChartImage {
            name: "x".to_owned(),
            svg: svg.to_owned(),
        }
    }

    #[test]
    fn a_chart_is_twice_as_large_in_pixels_and_names_its_program() {
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"30\" height=\"20\">\
                   <text x=\"1\" y=\"15\" font-family=\"DejaVu Sans\">A</text></svg>";
        let bytes = png(&chart(svg)).unwrap();
        assert!(bytes.starts_with(SIGNATURE));
        assert_eq!(bytes[16..24], [0, 0, 0, 60, 0, 0, 0, 40]);
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("tEXtSoftware\0fathom "));
        let read = Pixmap::decode_png(&bytes).unwrap();
        assert!(
            read.pixels().iter().any(|p| p.alpha() > 0),
            "letters are drawn"
        );
    }

    #[test]
    fn a_checksum_is_that_of_the_standard() {
        assert_eq!(checksum(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn what_cannot_be_drawn_is_an_error() {
        let error = png(&chart("<svg")).unwrap_err().to_string();
        assert!(
            error.starts_with("the chart x could not be drawn"),
            "{error}"
        );
    }
}
