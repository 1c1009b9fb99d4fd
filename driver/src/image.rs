//! What a program hands over as code: PTX, a fat binary that carries PTX, or machine code, which does not run here.

use crate::abi::In;
use crate::code::Code;

/// Why there is no PTX in an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPtx {
    #[error("a cubin: machine code of a GPU does not run here; load PTX")]
    Cubin,
    #[error("a fat binary without PTX: machine code of a GPU does not run here; build it with PTX, too")]
    MachineCodeOnly,
    #[error("a fat binary whose PTX is compressed; build it with `--no-compress`, or load PTX")]
    Compressed,
    #[error("a fat binary whose header is damaged")]
    Damaged,
    #[error("{0} bytes that are neither PTX, which begins with `.version`, nor a cubin nor a fat binary")]
    Unknown(usize),
}

impl NoPtx {
    pub fn code(self) -> Code {
        match self {
            Self::Cubin | Self::MachineCodeOnly | Self::Compressed => Code::NOT_SUPPORTED,
            Self::Damaged | Self::Unknown(_) => Code::INVALID_IMAGE,
        }
    }
}

const ELF: [u8; 4] = *b"\x7fELF";
/// First bytes of a fat binary (`fatbinary` 13.2 writes them; layout read off its output).
const FAT: [u8; 4] = [0x50, 0xed, 0x55, 0xba];
/// Of the structure by which nvcc's host code refers to one: magic, version, pointer, file name.
const WRAPPER: [u8; 4] = [0xb1, 0x43, 0x62, 0x46];
const FAT_HEADER_BYTES: usize = 16;
/// Bytes of an entry's header up to what is read of it.
const ENTRY_BYTES: usize = 20;
const KIND_PTX: u16 = 1;

/// The PTX of an image whose length C does not tell: its own header does, or the zero at the end of a text.
pub fn ptx_at(image: In<u8>) -> Result<Vec<u8>, NoPtx> {
    let bytes = |count: usize| image.array(count).map_err(|_| NoPtx::Unknown(0));
    // Byte by byte: a text may be shorter than a magic number.
    let mut start = Vec::new();
    while start.len() < 4 && !matches!(start.last(), Some(0)) {
        start.extend(image.element(start.len()).if_given());
        if image.is_null() {
            return Err(NoPtx::Unknown(0));
        }
    }
    match <[u8; 4]>::try_from(start.as_slice()) {
        Ok(ELF) => Err(NoPtx::Cubin),
        Ok(FAT) => {
            let header = bytes(FAT_HEADER_BYTES)?;
            let total = fat_bytes(&header).ok_or(NoPtx::Damaged)?;
            ptx_of_fat(&bytes(total)?)
        }
        Ok(WRAPPER) => {
            let header = bytes(16)?;
            ptx_at(In::at(number(&header, 8).ok_or(NoPtx::Damaged)?))
        }
        _ => {
            let length = (0..).find(|index| image.element(*index).if_given() == Some(0)).unwrap_or(0);
            ptx_of_text(&bytes(length)?)
        }
    }
}

/// The PTX of an image that is all there, as a file is.
pub fn ptx_of(image: &[u8]) -> Result<Vec<u8>, NoPtx> {
    match image.first_chunk() {
        Some(&ELF) => Err(NoPtx::Cubin),
        Some(&FAT) => ptx_of_fat(image),
        _ => ptx_of_text(image.split(|byte| *byte == 0).next().unwrap_or_default()),
    }
}

fn ptx_of_text(text: &[u8]) -> Result<Vec<u8>, NoPtx> {
    match begins_with_version(text) {
        true => Ok(text.to_vec()),
        false => Err(NoPtx::Unknown(text.len())),
    }
}

/// Whether the first thing in a text is `.version`: by that NVIDIA's driver knows PTX, too.
fn begins_with_version(mut text: &[u8]) -> bool {
    let after = |text: &[u8], end: &[u8]| text.windows(end.len()).position(|here| here == end).map(|at| at + end.len());
    loop {
        text = text.trim_ascii_start();
        let (end, comment): (&[u8], _) = match text {
            [b'/', b'/', comment @ ..] => (b"\n", comment),
            [b'/', b'*', comment @ ..] => (b"*/", comment),
            _ => return text.starts_with(b".version"),
        };
        let Some(length) = after(comment, end) else { return false };
        text = &comment[length..];
    }
}

/// Length of a fat binary by its header.
fn fat_bytes(header: &[u8]) -> Option<usize> {
    let own = usize::from(u16::from_le_bytes(header.get(6..8)?.try_into().ok()?));
    let rest = usize::try_from(number(header, 8)?).ok()?;
    (own >= FAT_HEADER_BYTES).then_some(own)?.checked_add(rest).filter(|total| *total < 1 << 32)
}

/// The PTX for the newest architecture.
fn ptx_of_fat(fat: &[u8]) -> Result<Vec<u8>, NoPtx> {
    let own = usize::from(u16::from_le_bytes(fat.get(6..8).and_then(|b| b.try_into().ok()).ok_or(NoPtx::Damaged)?));
    let mut rest = fat.get(own..).ok_or(NoPtx::Damaged)?;
    let mut best: Option<(u32, &[u8])> = None;
    let mut compressed = false;
    while rest.len() >= ENTRY_BYTES {
        let kind = u16::from_le_bytes([rest[0], rest[1]]);
        let header = word(rest, 4).ok_or(NoPtx::Damaged)? as usize;
        let payload = usize::try_from(number(rest, 8).ok_or(NoPtx::Damaged)?).map_err(|_| NoPtx::Damaged)?;
        let end = header.checked_add(payload).filter(|_| header >= ENTRY_BYTES).ok_or(NoPtx::Damaged)?;
        let contents = rest.get(header..end).ok_or(NoPtx::Damaged)?;
        // Its length when compressed; 0 when it is not.
        let squeezed = word(rest, 16).ok_or(NoPtx::Damaged)?;
        let arch = word(rest, 28).filter(|_| header >= 32).unwrap_or(0);
        if kind == KIND_PTX && squeezed != 0 {
            compressed = true;
        } else if kind == KIND_PTX && best.is_none_or(|(newest, _)| arch > newest) {
            best = Some((arch, contents));
        }
        rest = &rest[end..];
    }
    match best {
        Some((_, text)) => ptx_of_text(text.split(|byte| *byte == 0).next().unwrap_or_default()),
        None if compressed => Err(NoPtx::Compressed),
        None => Err(NoPtx::MachineCodeOnly),
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &[u8] = b".version 7.8\n.target sm_80\n.address_size 64\n";

    /// A fat binary as `fatbinary` 13.2 writes it, of entries (kind, architecture, length if compressed, contents).
    fn fat(entries: &[(u16, u32, u32, &[u8])]) -> Vec<u8> {
        let mut body = Vec::new();
        for (kind, arch, squeezed, contents) in entries {
            let padded = contents.len().next_multiple_of(8);
            let mut header = vec![0u8; 0x50];
            header[0..2].copy_from_slice(&kind.to_le_bytes());
            header[4..8].copy_from_slice(&0x50u32.to_le_bytes());
            header[8..16].copy_from_slice(&(padded as u64).to_le_bytes());
            header[16..20].copy_from_slice(&squeezed.to_le_bytes());
            header[28..32].copy_from_slice(&arch.to_le_bytes());
            body.extend(header);
            body.extend(*contents);
            body.resize(body.len() + padded - contents.len(), 0);
        }
        let mut fat = vec![0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
        fat.extend((body.len() as u64).to_le_bytes());
        fat.extend(body);
        fat
    }

    fn at(image: &[u8]) -> Result<Vec<u8>, NoPtx> {
        ptx_at(In::at(image.as_ptr().expose_provenance() as u64))
    }

    #[test]
    fn a_text_ends_at_its_zero() {
        let text = [PTX, b"\0junk\x01"].concat();
        assert_eq!(at(&text), Ok(PTX.to_vec()));
        assert_eq!(ptx_of(&text), Ok(PTX.to_vec()));
        assert_eq!(ptx_of(PTX), Ok(PTX.to_vec()));
    }

    #[test]
    fn a_fat_binary_gives_the_newest_ptx_that_it_carries_as_text() {
        let image = fat(&[
            (2, 90, 0, b"\x7fELF"),
            (1, 80, 0, b".version 6.0"),
            (1, 90, 0, PTX),
            (1, 120, 5, b"\x28\xb5\x2f\xfd."),
        ]);
        assert_eq!(at(&image), Ok(PTX.to_vec()));
        assert_eq!(ptx_of(&image), Ok(PTX.to_vec()));
    }

    #[test]
    fn images_without_ptx_say_which_kind_they_are() {
        assert_eq!(at(b"\x7fELF\x02\x01"), Err(NoPtx::Cubin));
        assert_eq!(at(&fat(&[(2, 90, 0, b"\x7fELF")])), Err(NoPtx::MachineCodeOnly));
        assert_eq!(at(&fat(&[(1, 90, 5, b"\x28\xb5\x2f\xfd.")])), Err(NoPtx::Compressed));
        assert_eq!(at(b"\x01\x02\0").unwrap_err().code(), Code::INVALID_IMAGE);
        assert_eq!(at(b"\0"), Err(NoPtx::Unknown(0)));
        assert_eq!(ptx_at(In::at(0)), Err(NoPtx::Unknown(0)));
        assert_eq!(ptx_of(b""), Err(NoPtx::Unknown(0)));
        for text in ["// only a comment", "/* never ended", "/*/ .version 7.0", "version 7.0", "hello"] {
            assert_eq!(ptx_of(text.as_bytes()), Err(NoPtx::Unknown(text.len())), "{text}");
        }
        for text in ["\r\n // a\n/**/.version 7.0", "/* * / */\t.version 7.0"] {
            assert_eq!(ptx_of(text.as_bytes()), Ok(text.into()), "{text}");
        }
    }

    #[test]
    fn a_damaged_fat_binary_is_refused_wherever_it_is_cut_or_changed() {
        let whole = fat(&[(1, 90, 0, PTX)]);
        for length in 4..whole.len() {
            assert!(ptx_of(&whole[..length]).is_err(), "cut at {length}");
        }
        for at in [4, 5, 6, 7, 12, 15, 20, 21, 22, 23] {
            for value in [0, 1, 0x7f, 0xff] {
                let mut damaged = whole.clone();
                damaged[at + 4] = value;
                let _ = ptx_of(&damaged);
            }
        }
    }
}
