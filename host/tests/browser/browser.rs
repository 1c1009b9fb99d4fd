//! A server, a browser's driver, and windows: what the tests stand on.

use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use warpwise::book::{Limits, Settings, router};

pub type Future<'a> = Pin<Box<dyn std::future::Future<Output = ()> + 'a>>;

/// How long a page may take to show something before the test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A laptop and a phone.
pub const SIZES: [(&str, u32, u32); 2] = [("laptop", 1280, 900), ("phone", 400, 860)];

/// The browser and its driver.
pub struct Tools {
    browser: PathBuf,
    driver: PathBuf,
}

impl Tools {
    /// By the names that Debian, Ubuntu and Google give them.
    pub fn find() -> Result<Self, String> {
        let browser = find(&["chromium", "chromium-browser", "google-chrome"]);
        let driver = find(&["chromedriver"]);
        match (browser, driver) {
            (Some(browser), Some(driver)) => Ok(Self { browser, driver }),
            (None, _) => Err("there is no Chromium; `apt-get install chromium chromium-driver` installs it".to_owned()),
            (_, None) => Err("Chromium's driver is missing; `apt-get install chromium-driver` installs it".to_owned()),
        }
    }
}

fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|file| file.is_file())
}

/// The book's server and the driver, for all tests.
pub struct World {
    runtime: Runtime,
    driver: Mutex<Child>,
    driver_address: String,
    browser: PathBuf,
    pub port: u16,
    pub folder: PathBuf,
}

impl World {
    pub fn start(tools: &Tools) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let folder = std::env::temp_dir().join(format!("warpwise-browser-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let port = runtime.block_on(serve(folder.clone()));
        let mut driver = Command::new(&tools.driver);
        // What driver and browser put among temporary files goes with the folder.
        let driver = driver
            .env("TMPDIR", &folder)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut driver = driver.spawn().expect("the driver starts");
        let mut said = BufReader::new(driver.stdout.take().expect("its output")).lines().map_while(Result::ok);
        let line = said.find(|line| line.contains("started successfully on port"));
        let driver_port: u16 = line
            .and_then(|line| line.rsplit(' ').next().and_then(|word| word.trim_end_matches('.').parse().ok()))
            .expect("the driver says its port");
        // It goes on talking, and would wait for ever for a reader.
        std::thread::spawn(move || said.for_each(drop));
        let driver_address = format!("http://127.0.0.1:{driver_port}");
        Self { runtime, driver: Mutex::new(driver), driver_address, browser: tools.browser.clone(), port, folder }
    }

    /// Runs a test in a window of its own. A panic is the test's failure; the console must stay empty.
    pub fn run(&self, test: super::Test, is_dark: bool) -> Result<(), String> {
        self.runtime.block_on(async {
            let window = Browser::open(self, is_dark).await;
            let hook = std::panic::take_hook();
            std::panic::set_hook(Box::new(|_| {}));
            let done = Caught(test(&window)).await;
            std::panic::set_hook(hook);
            let said = window.console().await;
            // The window is of no use any more, whether it can be closed or not.
            let _ = window.client.close().await;
            match (done, said.is_empty()) {
                (Err(why), _) => Err(why),
                (Ok(()), false) => Err(format!("the console says: {}", said.join("\n"))),
                (Ok(()), true) => Ok(()),
            }
        })
    }

    pub fn stop(&self) {
        let mut driver = self.driver.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Both fail only if it has ended already; the folder is a temporary one.
        let _ = driver.kill();
        let _ = driver.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A future whose panic is a value.
struct Caught<'a>(Future<'a>);

impl std::future::Future for Caught<'_> {
    type Output = Result<(), String>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> std::task::Poll<Self::Output> {
        let future = self.0.as_mut();
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| future.poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                std::task::Poll::Ready(Err(text.unwrap_or_else(|| "a panic without words".to_owned())))
            }
        }
    }
}

/// The book on a free port, with a program that stands for `warpwise labs`.
async fn serve(folder: PathBuf) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("its number").port();
    let cli = warpwise::cli::parse(["warpwise", "list"].map(Into::into)).expect("words that are understood");
    let program = stand_in(&folder);
    let settings = Settings { port, program, folder, limits: Limits::default(), global: cli.global };
    tokio::spawn(async move { axum::serve(listener, router(settings)).await });
    port
}

/// A lab that takes its time, unless the file `quick` lies beside it.
fn stand_in(folder: &Path) -> PathBuf {
    let path = folder.join("labs.sh");
    let text = format!(
        "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = --json ] && OUT=$2; shift; done\necho 'step: the second of two' >&2\n\
         [ -e {}/quick ] || exec sleep 600\n\
         echo '{{\"labs\":[{{\"id\":\"guard\",\"backend\":\"sim\",\"seconds\":1,\"claims\":[{{\"id\":\"guard.x\",\"statement\":\"it was run\",\"verdict\":\"holds\"}}]}}]}}' > $OUT\n",
        folder.display()
    );
    std::fs::write(&path, text).expect("a program");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("its right to run");
    }
    path
}

/// One window of the browser.
pub struct Browser {
    pub client: Client,
    pub port: u16,
    pub folder: PathBuf,
    said: RefCell<Vec<String>>,
}

impl Browser {
    /// A window in light colours or dark ones.
    pub async fn open(world: &World, is_dark: bool) -> Self {
        let scheme = format!("--blink-settings=preferredColorScheme={}", if is_dark { 0 } else { 1 });
        let words = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--force-device-scale-factor=1",
            &scheme,
        ];
        let capabilities = json!({
            "goog:chromeOptions": { "binary": world.browser, "args": words },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let capabilities = capabilities.as_object().cloned().expect("an object");
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let client = builder.capabilities(capabilities).connect(&world.driver_address).await.expect("a window");
        let window = Self { client, port: world.port, folder: world.folder.clone(), said: RefCell::default() };
        window.size(SIZES[0].1, SIZES[0].2).await;
        window
    }

    pub async fn size(&self, width: u32, height: u32) {
        self.client.set_window_size(width, height).await.expect("a size");
    }

    /// Opens a page of the book and waits until its explorer, if it has one, has its first answer.
    pub async fn goto(&self, path: &str) {
        self.collect().await;
        self.client.goto(&format!("http://127.0.0.1:{}{path}", self.port)).await.expect("the page");
        self.answered().await;
    }

    /// Waits until no question of an explorer is open.
    pub async fn answered(&self) {
        self.until(
            "the explorer has its answer",
            "return !document.getElementById('controls') || 'answered' in document.body.dataset",
        )
        .await;
    }

    /// Waits until a script says true.
    pub async fn until(&self, what: &str, script: &str) {
        let began = std::time::Instant::now();
        while self.run(script).await != Value::Bool(true) {
            assert!(began.elapsed() < PATIENCE, "it never came to this: {what}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub async fn run(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    pub async fn text(&self, css: &str) -> String {
        let element = self.client.find(Locator::Css(css)).await.unwrap_or_else(|error| panic!("{css}: {error}"));
        element.text().await.expect("its text")
    }

    pub async fn count(&self, css: &str) -> usize {
        self.client.find_all(Locator::Css(css)).await.expect("elements").len()
    }

    pub async fn click(&self, css: &str) {
        let element = self.client.find(Locator::Css(css)).await.unwrap_or_else(|error| panic!("{css}: {error}"));
        element.click().await.unwrap_or_else(|error| panic!("{css}: {error}"));
    }

    /// Types a number or picks a word, and waits for the answer.
    pub async fn set(&self, name: &str, value: impl std::fmt::Display) {
        let script = format!(
            "const field = document.getElementById('controls').elements['{name}']; field.value = '{value}'; \
             field.dispatchEvent(new Event('input', {{ bubbles: true }}));"
        );
        self.run(&script).await;
        self.answered().await;
    }

    /// Presses a key where the focus is.
    pub async fn press(&self, key: &str) {
        let active = self.client.active_element().await.expect("an element with the focus");
        active.send_keys(key).await.expect("a key");
    }

    /// What the book's service answers to the same question.
    pub async fn ask(&self, path: &str) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1]; fetch('/api/explore/{path}').then((r) => r.json()).then(done);"
        );
        self.client.execute_async(&script, Vec::new()).await.expect("an answer")
    }

    /// The whole page as a picture.
    pub async fn picture(&self, file: &Path) {
        let png = self.client.screenshot().await.expect("a picture");
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, png).expect("a file");
    }

    async fn collect(&self) {
        let log = self.client.issue_cmd(ConsoleLog).await.expect("the console");
        let entries = log.as_array().cloned().unwrap_or_default();
        // What a page is refused (an input out of range) is logged by the browser itself.
        let is_refusal = |text: &str| text.contains("status of 422");
        let said = entries
            .iter()
            .filter_map(|entry| entry["message"].as_str())
            .filter(|text| !is_refusal(text))
            .map(str::to_owned);
        self.said.borrow_mut().extend(said);
    }

    /// Everything that was written to the console since the window was opened.
    pub async fn console(&self) -> Vec<String> {
        self.collect().await;
        self.said.take()
    }
}

/// Chromium's own command for the console's lines since it was last asked.
#[derive(Debug)]
struct ConsoleLog;

impl WebDriverCompatibleCommand for ConsoleLog {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (axum::http::Method, Option<String>) {
        (axum::http::Method::POST, Some(json!({ "type": "browser" }).to_string()))
    }
}
