//! Which job files are for which `--client`.
//!
//! fio gives a job file right behind a `--client` to that host, and one that
//! stands elsewhere to all of them. Here all hosts run the same jobs: what names
//! the same files for each is read once, other files are refused.

use super::lines::named;
use super::place::{FioPlace, FioProblem};

/// A job file and where it was named.
type JobFile = (String, FioPlace);

/// A `--client`, and the job files right behind it.
#[derive(Debug)]
struct Client {
    name: String,
    place: FioPlace,
    files: Vec<JobFile>,
}

impl Client {
    fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(name, _)| name.as_str())
    }
}

/// The job files of a command line.
#[derive(Debug, Default)]
pub(super) struct JobFiles {
    clients: Vec<Client>,
    /// Those of no host in particular.
    general: Vec<JobFile>,
    /// The next job file is that of the last client.
    behind_client: bool,
}

impl JobFiles {
    /// A `--client`.
    pub(super) fn client(&mut self, name: &str, place: FioPlace) {
        self.clients.push(Client {
            name: name.to_owned(),
            place,
            files: Vec::new(),
        });
        self.behind_client = true;
    }

    /// An option: a job file behind it is for all.
    pub(super) fn another_option(&mut self) {
        self.behind_client = false;
    }

    /// A job file.
    pub(super) fn add(&mut self, name: &str, place: FioPlace) {
        let client = self.clients.last_mut().filter(|_| self.behind_client);
        let files = client.map_or(&mut self.general, |client| &mut client.files);
        files.push((name.to_owned(), place));
    }

    /// The files that every host runs.
    ///
    /// # Errors
    /// When hosts have different ones.
    pub(super) fn of_all_hosts(self) -> Result<Vec<JobFile>, FioProblem> {
        let mut with_files = self.clients.into_iter().filter(|c| !c.files.is_empty());
        let Some(first) = with_files.next() else {
            return Ok(self.general);
        };
        if let Some(other) = with_files.find(|other| !other.names().eq(first.names())) {
            let message = format!(
                "--client={} and --client={} have different job files; all hosts run the same jobs",
                named(&first.name),
                named(&other.name)
            );
            let help = "run `fathom fio` once for each, or put the jobs into one file";
            return Err(FioProblem::at(&other.place, message).help(help));
        }
        let mut files = first.files;
        files.extend(self.general);
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FixedSurroundings, read_fio};

    fn jobs(arguments: &[&str]) -> Result<Vec<String>, String> {
        let mut machine = FixedSurroundings::default();
        for (name, job) in [("x.fio", "x"), ("y.fio", "y")] {
            let text = format!("[{job}]\nrw=read\nsize=1m\n");
            machine.files.insert(name.to_owned(), text);
        }
        let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        let request = read_fio(&arguments, &machine).map_err(|p| p.to_string())?;
        Ok(request.jobs.jobs.iter().map(|j| j.name.clone()).collect())
    }

    #[test]
    fn a_file_named_for_each_host_is_read_once() {
        let once = |arguments: &[&str]| assert_eq!(jobs(arguments).unwrap(), ["x"]);
        once(&["--client=a", "x.fio", "--client=b", "x.fio"]);
        once(&["--client=a", "--client=b", "x.fio"]);
        once(&["--client=a", "--client=b", "--eta=never", "x.fio"]);
        once(&["--client", "a", "x.fio", "--client", "b"]);
        let both = jobs(&["--client=a", "x.fio", "--eta=never", "y.fio"]);
        assert_eq!(both.unwrap(), ["x", "y"]);
        assert_eq!(jobs(&["x.fio", "x.fio"]).unwrap(), ["x", "x"]);
    }

    #[test]
    fn other_files_for_another_host_are_refused() {
        let wrong = jobs(&["--client=a", "x.fio", "--client=b", "y.fio"]).unwrap_err();
        assert!(
            wrong.contains("argument 3: --client=a and --client=b have different job files"),
            "{wrong}"
        );
    }
}
