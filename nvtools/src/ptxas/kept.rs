//! A result of ptxas as bytes, for the cache: length of the report, report as JSON, cubin.

use super::Compiled;

/// Goes into every key: raise it when [`Compiled`] or what is read out of ptxas's output changes.
pub const FORMAT: &str = "warpwise-ptxas-2";

pub fn encode(compiled: &Compiled) -> Option<Vec<u8>> {
    let report = serde_json::to_vec(compiled).ok()?;
    Some([&(report.len() as u64).to_le_bytes(), &report[..], &compiled.cubin].concat())
}

pub fn decode(bytes: &[u8]) -> Option<Compiled> {
    let (length, body) = bytes.split_at_checked(8)?;
    let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
    let (report, cubin) = body.split_at_checked(length)?;
    let compiled: Compiled = serde_json::from_slice(report).ok()?;
    Some(Compiled { cubin: cubin.to_vec(), ..compiled })
}
