//! How a store is reached: everything about it but who signs.

use crate::checksum::Checksum;

/// How a store is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// What the store speaks.
    pub protocol: Protocol,
    /// Where it is: `http://host:port` or `https://host:port`. Connections are
    /// spread over them evenly.
    pub endpoints: Vec<String>,
    /// Region of the signature.
    pub region: String,
    /// The bucket is part of the host's name instead of the path.
    pub virtual_host: bool,
    /// Certificates of the authorities that vouch for the store, PEM.
    pub ca_file: Option<String>,
    /// Certificates are not checked.
    pub unverified: bool,
    /// The payload is part of the signature.
    pub sign_payload: bool,
    /// Checksum that objects and parts are put with, and that the store compares.
    pub checksum: Option<Checksum>,
    /// The checksum follows the payload (`aws-chunked`) instead of preceding it.
    pub checksum_trailing: bool,
    /// `x-amz-storage-class` of what is put.
    pub storage_class: Option<String>,
    /// Algorithm of a server-side encryption whose key is among the keys.
    pub sse_customer_algorithm: Option<String>,
    /// A request that takes longer fails.
    pub timeout_ns: u64,
    /// Each request has a connection of its own.
    pub no_keep_alive: bool,
}

/// What a store speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Amazon's S3.
    #[default]
    S3,
    /// Plain PUT, GET and DELETE.
    Webdav,
    /// OpenStack Swift, with a token.
    Swift,
}

impl Settings {
    /// S3 at these endpoints, with half a minute for each request.
    pub fn new(endpoints: Vec<String>) -> Settings {
        Settings {
            protocol: Protocol::default(),
            endpoints,
            region: String::new(),
            virtual_host: false,
            ca_file: None,
            unverified: false,
            sign_payload: false,
            checksum: None,
            checksum_trailing: false,
            storage_class: None,
            sse_customer_algorithm: None,
            timeout_ns: 30_000_000_000,
            no_keep_alive: false,
        }
    }

    /// The same with region and endpoint of the environment, as the AWS tools
    /// name them, where none are set; Amazon's where it has none either.
    #[must_use]
    pub fn or_environment(self) -> Settings {
        self.or_variables(&|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn or_variables(mut self, variable: &dyn Fn(&str) -> Option<String>) -> Settings {
        let first = |names: [&str; 2]| names.into_iter().find_map(variable);
        if self.region.is_empty() {
            let region = first(["AWS_REGION", "AWS_DEFAULT_REGION"]);
            self.region = region.unwrap_or_else(|| "us-east-1".to_owned());
        }
        if self.endpoints.is_empty() {
            let named = first(["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]);
            let amazon = || format!("https://s3.{}.amazonaws.com", self.region);
            self.endpoints = vec![named.unwrap_or_else(amazon)];
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_what_nothing_else_does() {
        let none = Settings::new(Vec::new());
        let found = none.clone().or_variables(&|_| None);
        assert_eq!(found.endpoints, ["https://s3.us-east-1.amazonaws.com"]);
        let variable = |name: &str| match name {
            "AWS_ENDPOINT_URL" => Some("http://h:1".to_owned()),
            "AWS_DEFAULT_REGION" => Some("r".to_owned()),
            _ => None,
        };
        let found = none.or_variables(&variable);
        assert_eq!(
            (found.region.as_str(), found.endpoints[0].as_str()),
            ("r", "http://h:1")
        );
    }
}
