//! Arguments against the parameters that an entry declares, and into the bytes that a launch takes.

use std::fmt;

use warpwise_simt::isa::{Param, Program};

use super::Argument;

/// Arguments that are not the entry's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindError {
    Count { kernel: String, expected: Vec<String>, given: usize },
    Size { kernel: String, index: usize, parameter: String, name: String, given_bytes: usize },
}

impl std::error::Error for BindError {}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { kernel, expected, given } => {
                let s = if expected.len() == 1 { "" } else { "s" };
                write!(f, "`{kernel}` takes {} argument{s}, not {given}", expected.len())?;
                if expected.is_empty() { Ok(()) } else { write!(f, "\nit takes: {}", expected.join(", ")) }
            }
            Self::Size { kernel, index, parameter, name, given_bytes } => write!(
                f,
                "argument {} of `{kernel}` is {parameter}, --arg {name} has {given_bytes}; a buffer is an 8-byte address",
                index + 1
            ),
        }
    }
}

/// Checks number and sizes of the arguments.
pub fn check(program: &Program, arguments: &[Argument]) -> Result<(), BindError> {
    if arguments.len() != program.params.len() {
        return Err(BindError::Count {
            kernel: program.name.clone(),
            expected: program.params.iter().map(declared).collect(),
            given: arguments.len(),
        });
    }
    for (index, (param, argument)) in program.params.iter().zip(arguments).enumerate() {
        if param.bytes as usize != argument.param_bytes() {
            return Err(BindError::Size {
                kernel: program.name.clone(),
                index,
                parameter: declared(param),
                name: argument.name().to_owned(),
                given_bytes: argument.param_bytes(),
            });
        }
    }
    Ok(())
}

/// `vecadd_param_3: 4 bytes`.
fn declared(param: &Param) -> String {
    format!("{}: {} bytes", param.name, param.bytes)
}

/// The parameter buffer: each value at its parameter's offset.
pub fn layout(program: &Program, values: &[Vec<u8>]) -> Vec<u8> {
    let end = program.params.iter().map(|param| param.offset as usize + param.bytes as usize).max().unwrap_or(0);
    let mut buffer = vec![0; end];
    for (param, value) in program.params.iter().zip(values) {
        let start = param.offset as usize;
        if let Some(place) = buffer.get_mut(start..start + value.len()) {
            place.copy_from_slice(value);
        }
    }
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Code;

    const PTX: &str = ".version 7.0\n.target sm_80\n.address_size 64\n\
        .visible .entry k(.param .u32 n, .param .u64 values)\n{\n ret;\n}\n";

    fn bound(words: &[&str]) -> Result<(), String> {
        let program = Code::parse("k.ptx", PTX).expect("valid PTX").program("k").expect("a kernel");
        let arguments: Vec<Argument> = words.iter().map(|word| word.parse().expect("an argument")).collect();
        check(&program, &arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn number_and_size_of_arguments_must_be_the_kernels() {
        assert_eq!(bound(&["n=scalar:u32:1", "v=in:f32:4"]), Ok(()));
        assert_eq!(
            bound(&["n=scalar:u32:1"]),
            Err("`k` takes 2 arguments, not 1\nit takes: n: 4 bytes, values: 8 bytes".to_owned())
        );
        assert_eq!(
            bound(&["v=in:f32:4", "n=scalar:u32:1"]),
            Err("argument 1 of `k` is n: 4 bytes, --arg v has 8; a buffer is an 8-byte address".to_owned())
        );
    }

    #[test]
    fn values_lie_at_their_parameters_offsets() {
        let program = Code::parse("k.ptx", PTX).expect("valid PTX").program("k").expect("a kernel");
        let values = [vec![1, 0, 0, 0], vec![9; 8]];
        assert_eq!(layout(&program, &values), [1, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9]);
    }
}
