//! What a request is answered with that cannot be served: a status and one sentence.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use taskscout_studies::Error as StudyError;

/// Why a request is not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) sentence: String,
}

/// What a request is answered with, or why it is not.
pub(crate) type Answered<T> = Result<T, Refusal>;

impl Refusal {
    pub(crate) fn new(status: StatusCode, sentence: impl Into<String>) -> Self {
        Self {
            status,
            sentence: sentence.into(),
        }
    }

    /// Bad input.
    pub(crate) fn input(sentence: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, sentence)
    }

    /// A page that shows what is no longer so.
    pub(crate) fn stale(sentence: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, sentence)
    }

    pub(crate) fn not_found(sentence: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, sentence)
    }

    pub(crate) fn too_large(most: usize) -> Self {
        let sentence = match most >> 20 {
            0 => format!("the request has more than {} KB: send less", most >> 10),
            megabytes => format!(
                "the file has more than {megabytes} MB, which the page does not take: tell it with `taskscout study tell`"
            ),
        };
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, sentence)
    }
}

impl From<StudyError> for Refusal {
    fn from(error: StudyError) -> Self {
        let status = match &error {
            StudyError::Failure(_) | StudyError::Closed => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::new(status, error.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.sentence }))).into_response()
    }
}
