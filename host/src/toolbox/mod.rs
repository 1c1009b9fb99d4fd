//! NVIDIA's compiler tools as the commands use them: looked for once, each answer kept.
//!
//! Finding, fetching and running is [`warpwise_nvtools`]'s business. A machine without them is no error here: everything
//! that needs them says so ([`ToolError::Missing`]), and the rest of the program goes on.

mod precompiled;

use std::collections::HashMap;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use warpwise_nvtools::cuobjdump::{self, CuobjdumpError, Unpacked};
use warpwise_nvtools::locate::{FETCH_LIMIT, MissingTool};
use warpwise_nvtools::nvcc::{self, NvccError};
use warpwise_nvtools::nvdisasm::{Disassembler, Listing, ListingOptions, NvdisasmError};
use warpwise_nvtools::ptxas::{CompileRequest, Compiled, Compiler, PtxasError};
use warpwise_nvtools::{Environment, LocateError, LocateOptions, Tools, locate, locate_nvcc};

use crate::folders;

pub use precompiled::Precompiled;

/// Why a tool gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// There is no ptxas; the reason and what to do about it.
    #[error("{0}")]
    Missing(String),
    #[error(transparent)]
    MissingBeside(#[from] MissingTool),
    #[error(transparent)]
    Ptxas(#[from] PtxasError),
    #[error(transparent)]
    Nvdisasm(#[from] NvdisasmError),
    #[error(transparent)]
    Cuobjdump(#[from] CuobjdumpError),
    /// There is no nvcc, or none that runs.
    #[error(transparent)]
    NoNvcc(#[from] LocateError),
    #[error(transparent)]
    Nvcc(#[from] NvccError),
}

impl ToolError {
    /// Whether ptxas is there but does not compile this text for this architecture.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Ptxas(PtxasError::UnknownArchitecture { .. } | PtxasError::Refused { .. }))
    }
}

/// One compilation of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// `sm_120`.
    pub arch: String,
    /// One entry only; all if none.
    pub entry: Option<String>,
    /// The most registers a thread may have.
    pub max_registers: Option<u32>,
}

impl Target {
    /// All entries for an architecture, without a cap.
    pub fn arch(arch: &str) -> Self {
        Self { arch: arch.to_owned(), entry: None, max_registers: None }
    }
}

/// The tools, and what they made of one PTX text.
#[derive(Debug)]
pub struct Toolbox {
    tools: Result<Tools, String>,
    cache: PathBuf,
    /// Where tools are, or are fetched to, and whether they may be.
    toolchain: PathBuf,
    provision: bool,
    precompiled: Precompiled,
    compiled: Mutex<HashMap<Target, Arc<Compiled>>>,
}

impl Toolbox {
    /// Looks for the tools, or fetches them unless `WARPWISE_NO_PROVISION` is set. `near` is a folder of the project's (the
    /// kernels'), under whose `target` the tools and the cache are kept; `say` gets a line before each long step.
    pub fn open(near: Option<&Path>, say: &dyn Fn(&str)) -> Self {
        let allowed = env::var_os("WARPWISE_NO_PROVISION").is_none_or(|value| value.is_empty());
        Self::find(near, allowed, say)
    }

    /// Looks for the tools and fetches nothing.
    pub fn look(near: Option<&Path>) -> Self {
        Self::find(near, false, &|_| ())
    }

    fn find(near: Option<&Path>, provision: bool, say: &dyn Fn(&str)) -> Self {
        let folder = folders::workspace(near);
        let tools = locate(&options(&folder.join("toolchain"), provision, say));
        Self {
            tools: tools.map_err(|error| error.to_string()),
            cache: folder.join("warpwise").join("tools"),
            toolchain: folder.join("toolchain"),
            provision,
            precompiled: Precompiled::beside(near),
            compiled: Mutex::default(),
        }
    }

    pub fn tools(&self) -> Result<&Tools, ToolError> {
        self.tools.as_ref().map_err(|reason| ToolError::Missing(reason.clone()))
    }

    /// Version of the ptxas behind the figures, if there is one: that of a bundle's own, else of the one found here.
    pub fn ptxas_version(&self) -> Option<String> {
        let here = || self.tools.as_ref().ok().map(|tools| tools.ptxas().version.clone());
        self.precompiled.ptxas_version().or_else(here)
    }

    /// What ptxas makes of the text. All calls must give the same text.
    pub fn compile(&self, ptx: &str, target: &Target) -> Result<Arc<Compiled>, ToolError> {
        let mut results = self.compile_all(ptx, std::slice::from_ref(target))?;
        results.pop().unwrap_or_else(|| Err(ToolError::Missing("ptxas gave no answer".to_owned())))
    }

    /// As [`Toolbox::compile`], many at a time on all cores; in the order of the targets.
    ///
    /// # Errors
    /// Outside: there is no ptxas. Inside: this target was refused.
    pub fn compile_all(
        &self,
        ptx: &str,
        targets: &[Target],
    ) -> Result<Vec<Result<Arc<Compiled>, ToolError>>, ToolError> {
        // A thread that panicked while it held the lock left whole entries only.
        let mut known = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        for target in targets {
            let plain = target.entry.is_none() && target.max_registers.is_none();
            if let Some(compiled) = plain.then(|| self.precompiled.get(&target.arch)).flatten() {
                known.entry(target.clone()).or_insert_with(|| Arc::new(compiled));
            }
        }
        let missing: Vec<&Target> = targets.iter().filter(|target| !known.contains_key(target)).collect();
        let requests: Vec<CompileRequest<'_>> = missing.iter().map(|target| request(ptx, target)).collect();
        let made = match requests.is_empty() {
            true => Vec::new(),
            false => Compiler::new(self.tools()?.ptxas(), Some(&self.cache)).compile_all(&requests, &|_| ()),
        };
        let mut made: HashMap<&Target, Result<Compiled, PtxasError>> = missing.into_iter().zip(made).collect();
        let answers = targets.iter().map(|target| match (known.get(target), made.remove(target)) {
            (Some(compiled), _) => Ok(Arc::clone(compiled)),
            (None, Some(Ok(compiled))) => Ok(Arc::clone(known.entry(target.clone()).or_insert(Arc::new(compiled)))),
            (None, Some(Err(error))) => Err(error.into()),
            (None, None) => Err(ToolError::Missing(format!("ptxas was asked twice for {}, in vain", target.arch))),
        });
        Ok(answers.collect())
    }

    /// What ptxas makes of texts, each its own, many at a time on all cores; in the order of the requests.
    ///
    /// # Errors
    /// Outside: there is no ptxas. Inside: this text was refused.
    pub fn compile_texts(
        &self,
        requests: &[CompileRequest<'_>],
        done: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Result<Compiled, PtxasError>>, ToolError> {
        Ok(Compiler::new(self.tools()?.ptxas(), Some(&self.cache)).compile_all(requests, done))
    }

    /// The SASS of all kernels for an architecture.
    pub fn sass(&self, ptx: &str, arch: &str, options: ListingOptions) -> Result<Listing, ToolError> {
        self.sass_of(ptx, &Target::arch(arch), options)
    }

    /// The SASS of what a target compiles to.
    pub fn sass_of(&self, ptx: &str, target: &Target, options: ListingOptions) -> Result<Listing, ToolError> {
        let compiled = self.compile(ptx, target)?;
        self.disassemble(&compiled.cubin, options)
    }

    /// The SASS of a cubin.
    pub fn disassemble(&self, cubin: &[u8], options: ListingOptions) -> Result<Listing, ToolError> {
        Ok(Disassembler::new(self.tools()?.nvdisasm()?, Some(&self.cache)).listing(cubin, options)?)
    }

    /// PTX of sources in CUDA C++, each a file's name and text, for a virtual architecture (`compute_80`); and the version of nvcc, which is
    /// fetched where it is missing and that is allowed.
    pub fn compile_cplusplus(&self, sources: &[(&str, &str)], arch: &str) -> Result<(String, Vec<String>), ToolError> {
        let nvcc = locate_nvcc(&options(&self.toolchain, self.provision, &|line| eprintln!("{line}")))?;
        let compile = |(file, text): &(&str, &str)| nvcc::compile(&nvcc, Some(&self.cache), file, text, arch);
        let texts = sources.iter().map(compile).collect::<Result<Vec<_>, _>>()?;
        Ok((nvcc.version, texts))
    }

    /// What is packed into a fatbin.
    pub fn unpack(&self, fatbin: &[u8]) -> Result<Unpacked, ToolError> {
        Ok(cuobjdump::unpack(self.tools()?.cuobjdump()?, fatbin)?)
    }
}

fn options<'a>(toolchain_dir: &'a Path, provision: bool, say: &'a dyn Fn(&str)) -> LocateOptions<'a> {
    LocateOptions { toolchain_dir, provision, fetch_limit: FETCH_LIMIT, environment: Environment::of_process(), say }
}

fn request<'a>(ptx: &'a str, target: &'a Target) -> CompileRequest<'a> {
    CompileRequest {
        entry: target.entry.as_deref(),
        max_registers: target.max_registers,
        ..CompileRequest::new(ptx, &target.arch)
    }
}
