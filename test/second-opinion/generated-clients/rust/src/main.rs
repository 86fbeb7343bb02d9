//! Reads extractions with the generated client, and writes each as JSON in a line, or the error that it got instead. Arguments: the
//! address of the API, and ids.

use cosecha::apis::configuration::Configuration;
use cosecha::apis::extractions_api::{get_extraction, GetExtractionError};
use cosecha::apis::Error;
use cosecha::models::Extraction;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut arguments = std::env::args().skip(1);
    let configuration = Configuration { base_path: arguments.next().expect("an address"), ..Configuration::new() };
    for id in arguments {
        match runtime.block_on(get_extraction(&configuration, &id)) {
            Ok(extraction) => {
                let kind = match extraction {
                    Extraction::CredentialsExtraction(_) => "Credentials",
                    Extraction::ConsentExtraction(_) => "Consent",
                };
                println!("{kind}Extraction {}", serde_json::to_string(&extraction).expect("JSON"));
            }
            Err(Error::ResponseError(answer)) => {
                let Some(GetExtractionError::Status403(problem)) = answer.entity else { panic!("{id}: no problem") };
                println!("Error {} {}", answer.status.as_u16(), serde_json::to_string(&problem).expect("JSON"));
            }
            Err(error) => panic!("{id}: {error}"),
        }
    }
}
