//! The session on our tab: calls to it, and evaluations in its worlds.

use std::sync::Arc;

use chromiumoxide::cdp::browser_protocol::input::{
    DispatchMouseEventParams, DispatchMouseEventType, MouseButton,
};
use chromiumoxide::cdp::js_protocol::runtime::{
    CallArgument, CallFunctionOnParams, EvaluateParams,
};
use chromiumoxide::types::Command;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{CallError, bounded};
use crate::limits::{Limit, Limits};
use crate::link::Link;

/// One world of one document. It dies with the document, and an evaluation
/// meant for it can never land in the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct World {
    /// The name by which events tell it.
    pub id: i64,
    /// The name that no other document ever has.
    pub unique: String,
}

/// Our one session on our one tab.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub link: Link,
    pub session: Arc<str>,
    pub limits: Limits,
}

impl Page {
    /// One call within `call_ms`.
    pub(crate) async fn call<C: Command>(&self, command: C) -> Result<Value, CallError> {
        self.call_within(command, self.limits.call()).await
    }

    /// One call within a limit of its own.
    pub(crate) async fn call_within<C: Command>(
        &self,
        command: C,
        limit: Limit,
    ) -> Result<Value, CallError> {
        self.link.call(Some(&self.session), command, limit).await
    }

    /// The value of an expression in a world.
    pub(crate) async fn evaluate(
        &self,
        world: &World,
        expression: &str,
        limit: Limit,
    ) -> Result<Value, CallError> {
        let mut command = EvaluateParams::new(expression);
        command.return_by_value = Some(true);
        command.await_promise = Some(true);
        command.unique_context_id = Some(world.unique.clone());
        outcome(self.call_within(command, limit).await?)
    }

    /// The value of a function in a world, called with one argument.
    pub(crate) async fn invoke(
        &self,
        world: &World,
        function: &str,
        argument: Value,
        limit: Limit,
    ) -> Result<Value, CallError> {
        let mut command = CallFunctionOnParams::new(function);
        command.arguments = Some(vec![CallArgument {
            value: Some(argument),
            unserializable_value: None,
            object_id: None,
        }]);
        command.return_by_value = Some(true);
        command.await_promise = Some(true);
        command.unique_context_id = Some(world.unique.clone());
        outcome(self.call_within(command, limit).await?)
    }

    /// As [`Self::invoke`], where the value is a JSON text of a known shape.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        world: &World,
        function: &str,
        argument: Value,
        limit: Limit,
    ) -> Result<T, CallError> {
        parse(&self.invoke(world, function, argument, limit).await?)
    }

    /// One trusted click at a point of the page: moved, pressed, released.
    pub(crate) async fn click(&self, x: f64, y: f64, limit: Limit) -> Result<(), CallError> {
        use DispatchMouseEventType::{MouseMoved, MousePressed, MouseReleased};
        for kind in [MouseMoved, MousePressed, MouseReleased] {
            let pressed = kind == MousePressed;
            let mut command = DispatchMouseEventParams::new(kind.clone(), x, y);
            if kind != MouseMoved {
                command.button = Some(MouseButton::Left);
                command.buttons = Some(i64::from(pressed));
                command.click_count = Some(1);
            }
            self.call_within(command, limit).await?;
        }
        Ok(())
    }
}

/// A JSON text handed out by a script of ours.
pub(crate) fn parse<T: DeserializeOwned>(value: &Value) -> Result<T, CallError> {
    let text = value
        .as_str()
        .ok_or_else(|| CallError::Malformed("the script gave no text".to_owned()))?;
    serde_json::from_str(text).map_err(|e| CallError::Malformed(bounded(e)))
}

/// The value in the answer of an evaluation.
fn outcome(answer: Value) -> Result<Value, CallError> {
    if let Some(thrown) = answer.get("exceptionDetails") {
        let said = thrown["exception"]["description"]
            .as_str()
            .or_else(|| thrown["text"].as_str())
            .unwrap_or("a script threw");
        return Err(CallError::Refused(bounded(said)));
    }
    Ok(answer["result"]["value"].clone())
}
