//! Pixels as a PNG file (W3C recommendation, second edition).

use super::Drawing;
use super::raster::Pixels;

/// Pixels for each unit of a drawing: sharp on screens of today and in print.
const SCALE: f64 = 2.0;
/// How hard to compress, 0 to 10.
const EFFORT: u8 = 6;

impl Drawing {
    /// The bytes of a PNG file.
    pub fn to_png(&self) -> Vec<u8> {
        self.to_pixels(SCALE).to_png()
    }
}

impl Pixels {
    /// The bytes of a PNG file: eight bits each of red, green and blue.
    fn to_png(&self) -> Vec<u8> {
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        let mut header = Vec::with_capacity(13);
        // A side fits: no picture is larger than a poster.
        header.extend((self.width as u32).to_be_bytes());
        header.extend((self.height as u32).to_be_bytes());
        header.extend([8, 2, 0, 0, 0]);
        chunk(&mut file, b"IHDR", &header);
        // Each row begins with the number of its filter; 0 is none.
        let mut rows = Vec::with_capacity(self.rgb.len() + self.height);
        for row in self.rgb.chunks(3 * self.width) {
            rows.push(0);
            rows.extend_from_slice(row);
        }
        chunk(&mut file, b"IDAT", &miniz_oxide::deflate::compress_to_vec_zlib(&rows, EFFORT));
        chunk(&mut file, b"IEND", &[]);
        file
    }
}

fn chunk(file: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(name);
    file.extend(data);
    let crc = crc32(&file[start..]);
    file.extend(crc.to_be_bytes());
}

/// Cyclic redundancy check of ISO 3309, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, &b: &u8| {
        (0..8).fold(crc ^ u32::from(b), |c, _| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 })
    };
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of the standard, and the last chunk that every PNG file ends with.
    #[test]
    fn analytic_checksums() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        let mut end = Vec::new();
        chunk(&mut end, b"IEND", &[]);
        assert_eq!(end, b"\0\0\0\0IEND\xae\x42\x60\x82");
    }

    /// What is written can be read again.
    #[test]
    fn identity_pixels_come_back() {
        let p = Pixels { width: 5, height: 3, rgb: (0..45).collect() };
        let file = p.to_png();
        assert_eq!(&file[16..24], &[0, 0, 0, 5, 0, 0, 0, 3]);
        let length = u32::from_be_bytes(file[33..37].try_into().unwrap()) as usize;
        let rows = miniz_oxide::inflate::decompress_to_vec_zlib(&file[41..41 + length]).unwrap();
        let back: Vec<u8> = rows.chunks(16).flat_map(|r| r[1..].to_vec()).collect();
        assert_eq!(back, p.rgb);
    }
}
