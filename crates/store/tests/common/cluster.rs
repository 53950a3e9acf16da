//! A PostgreSQL server of the test's own: a new cluster in a temporary folder, on loopback, stopped at the end.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A running server, stopped when it is dropped.
pub(crate) struct Cluster {
    folder: tempfile::TempDir,
    programs: PathBuf,
    port: u16,
    /// Settings of the server.
    options: String,
}

/// Where `initdb` and `pg_ctl` are: Debian keeps them out of the path.
fn programs() -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .collect();
    folders.sort();
    folders.reverse();
    let path = std::env::var_os("PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path));
    folders
        .into_iter()
        .find(|folder| folder.join("initdb").is_file() && folder.join("pg_ctl").is_file())
}

fn root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|out| out.stdout.trim_ascii() == b"0")
}

/// A port that nobody uses; the listener that found it is gone again.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

impl Cluster {
    /// A new server, or nothing and a message where PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with("-c fsync=off -c max_connections=40")
    }

    /// The same with settings of one's own.
    pub(crate) fn start_with(options: &str) -> Option<Self> {
        let Some(programs) = programs() else {
            eprintln!("SKIPPED: PostgreSQL is not installed (Debian: apt-get install postgresql)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        if root() {
            // `initdb` refuses to run as root.
            let mut give = Command::new("chown");
            let given = give.arg("postgres").arg(folder.path()).status();
            if !given.is_ok_and(|status| status.success()) {
                eprintln!("SKIPPED: root, and no user `postgres` to run the server as");
                return None;
            }
        }
        let port = free_port();
        let cluster = Self {
            folder,
            programs,
            port,
            options: options.to_owned(),
        };
        let data = cluster.data();
        cluster.run("initdb", |command| {
            command.arg("-D").arg(&data);
            command.args(["-A", "trust", "-U", "postgres", "-E", "UTF8"]);
            command.args(["--no-sync", "--locale=C"]);
        });
        cluster.up();
        Some(cluster)
    }

    /// A file that nobody but the server may read.
    #[allow(dead_code)] // for the tests of TLS
    pub(crate) fn private_file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        if root() {
            let mut give = Command::new("chown");
            assert!(give.arg("postgres").arg(&path).status().unwrap().success());
        }
        path
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        url(self.port)
    }

    fn command(&self, program: &str) -> Command {
        let path = self.programs.join(program);
        let mut command = if root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        // The server lives on after this command: it must not keep the test's pipes open.
        command
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn run(&self, program: &str, with: impl Fn(&mut Command)) {
        let mut command = self.command(program);
        with(&mut command);
        let status = command.status().unwrap();
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        assert!(status.success(), "{command:?} ended with {status}\n{log}");
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Starts the server and waits until it answers, for at most 30 s.
    pub(crate) fn up(&self) {
        let sockets = self.folder.path();
        let options = format!(
            "-c listen_addresses=127.0.0.1 {} -p {} -k {}",
            self.options,
            self.port,
            sockets.display()
        );
        self.run("pg_ctl", |command| {
            command.arg("-D").arg(self.data()).arg("-l").arg(self.log());
            command.args(["-o", &options, "-w", "-t", "30", "start"]);
        });
    }

    /// Ends the server at once, in the middle of whatever it does.
    #[allow(dead_code)] // for the tests of crashes
    pub(crate) fn crash(&self) {
        self.run("pg_ctl", |command| {
            command.arg("-D").arg(self.data());
            command.args(["-m", "immediate", "-w", "-t", "30", "stop"]);
        });
    }
}

/// The address of a server on loopback.
pub(crate) fn url(port: u16) -> String {
    format!("postgresql://postgres@127.0.0.1:{port}/postgres")
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let mut stop = self.command("pg_ctl");
        stop.arg("-D").arg(self.data());
        let _ = stop.args(["-m", "immediate", "-t", "10", "stop"]).status();
        if root() {
            take_back(self.folder.path());
        }
    }
}

/// So that the folder can be removed whoever owns it.
fn take_back(folder: &Path) {
    let _ = Command::new("chown").args(["-R", "0"]).arg(folder).status();
}
