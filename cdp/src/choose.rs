//! Which tab is ours. A pure choice over what the browser lists.

use protocol::page::TargetId;
use serde_json::Value;

use crate::config::TabWish;
use crate::error::{TabFault, TabSeen};

/// What to do about a tab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Attach to this one.
    Use(TargetId),
    /// Open one at this address.
    Open(String),
}

/// A page as the browser lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tab {
    pub id: TargetId,
    pub url: String,
}

/// The pages in the answer of `Target.getTargets`.
pub(crate) fn pages(answer: &Value) -> Vec<Tab> {
    answer["targetInfos"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|info| info["type"] == "page")
        .filter_map(|info| {
            Some(Tab {
                id: TargetId(info["targetId"].as_str()?.to_owned()),
                url: info["url"].as_str().unwrap_or_default().to_owned(),
            })
        })
        .collect()
}

/// Chooses in the settled order: the named one, the one at the conversation's
/// address, one that we opened, a new one.
pub(crate) fn choose(tabs: &[Tab], wish: &TabWish) -> Result<Choice, TabFault> {
    if let Some(id) = &wish.id {
        return if tabs.iter().any(|tab| tab.id == *id) {
            Ok(Choice::Use(id.clone()))
        } else {
            Err(TabFault::NoSuch {
                id: id.clone(),
                seen: tabs.iter().map(seen).collect(),
            })
        };
    }
    if let Some(address) = &wish.conversation {
        let there: Vec<&Tab> = tabs
            .iter()
            .filter(|tab| same_place(&tab.url, address))
            .collect();
        match there.as_slice() {
            [] => {}
            [one] => return Ok(Choice::Use(one.id.clone())),
            several => {
                return Err(TabFault::Several {
                    seen: several.iter().map(|tab| seen(tab)).collect(),
                });
            }
        }
    } else if let (Some(id), Some(site)) = (&wish.opened, &wish.open_at) {
        // (ours) A tab that we opened proves nothing once a conversation is
        // known: it may show another one by now (field case a6).
        if let Some(tab) = tabs.iter().find(|tab| tab.id == *id)
            && same_origin(&tab.url, site)
        {
            return Ok(Choice::Use(id.clone()));
        }
    }
    match wish.conversation.as_ref().or(wish.open_at.as_ref()) {
        Some(address) if wish.open_at.is_some() => Ok(Choice::Open(address.clone())),
        Some(_) | None => Err(TabFault::MayNotOpen),
    }
}

/// Whether two addresses name the same place: all but query and fragment.
pub(crate) fn same_place(one: &str, other: &str) -> bool {
    match (url(one), url(other)) {
        (Some(a), Some(b)) => {
            a.origin() == b.origin()
                && a.path().trim_end_matches('/') == b.path().trim_end_matches('/')
        }
        (_, _) => false,
    }
}

fn same_origin(one: &str, other: &str) -> bool {
    matches!((url(one), url(other)), (Some(a), Some(b)) if a.origin() == b.origin())
}

fn url(text: &str) -> Option<reqwest::Url> {
    reqwest::Url::parse(text).ok()
}

/// An address without query and fragment.
pub(crate) fn bare(address: &str) -> String {
    let end = address.find(['?', '#']).unwrap_or(address.len());
    address[..end].chars().take(300).collect()
}

fn seen(tab: &Tab) -> TabSeen {
    TabSeen {
        id: tab.id.clone(),
        address: bare(&tab.url),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tab(id: &str, url: &str) -> Tab {
        Tab {
            id: TargetId(id.into()),
            url: url.into(),
        }
    }
    fn id(text: &str) -> TargetId {
        TargetId(text.into())
    }
    fn site() -> Vec<Tab> {
        vec![
            tab("HOME", "https://chat.test/"),
            tab("OTHER", "https://chat.test/c/other"),
            tab("OURS", "https://chat.test/c/ours?model=x#end"),
            tab("NEWS", "https://news.test/c/ours"),
        ]
    }
    fn wish() -> TabWish {
        TabWish {
            open_at: Some("https://chat.test/".into()),
            ..TabWish::default()
        }
    }

    #[test]
    fn the_named_tab_comes_first_and_must_exist() {
        let mut wish = wish();
        wish.conversation = Some("https://chat.test/c/ours".into());
        wish.id = Some(id("NEWS"));
        assert_eq!(choose(&site(), &wish), Ok(Choice::Use(id("NEWS"))));
        wish.id = Some(id("GONE"));
        assert!(matches!(
            choose(&site(), &wish),
            Err(TabFault::NoSuch { seen, .. }) if seen.len() == 4
        ));
    }

    #[test]
    fn the_conversations_own_address_beats_the_tab_we_once_opened() {
        let mut wish = wish();
        wish.conversation = Some("https://chat.test/c/ours".into());
        wish.opened = Some(id("HOME"));
        assert_eq!(choose(&site(), &wish), Ok(Choice::Use(id("OURS"))));
    }

    #[test]
    fn a_tab_we_opened_that_shows_something_else_by_now_is_not_the_conversation() {
        let mut wish = wish();
        wish.conversation = Some("https://chat.test/c/closed".into());
        wish.opened = Some(id("HOME"));
        assert_eq!(
            choose(&site(), &wish),
            Ok(Choice::Open("https://chat.test/c/closed".into()))
        );
    }

    #[test]
    fn without_a_conversation_the_tab_we_opened_is_used_while_it_shows_the_site() {
        let mut wish = wish();
        wish.opened = Some(id("OTHER"));
        assert_eq!(choose(&site(), &wish), Ok(Choice::Use(id("OTHER"))));
        wish.opened = Some(id("NEWS"));
        assert_eq!(
            choose(&site(), &wish),
            Ok(Choice::Open("https://chat.test/".into()))
        );
    }

    #[test]
    fn a_tab_that_only_shares_the_origin_is_never_used() {
        assert_eq!(
            choose(&site(), &wish()),
            Ok(Choice::Open("https://chat.test/".into()))
        );
    }

    #[test]
    fn two_tabs_on_the_conversation_are_listed_and_refused() {
        let mut tabs = site();
        tabs.push(tab("TWIN", "https://chat.test/c/ours"));
        let mut wish = wish();
        wish.conversation = Some("https://chat.test/c/ours".into());
        let Err(TabFault::Several { seen }) = choose(&tabs, &wish) else {
            panic!("one of two was taken")
        };
        let ids: Vec<&str> = seen.iter().map(|t| t.id.0.as_str()).collect();
        assert_eq!(ids, ["OURS", "TWIN"]);
    }

    #[test]
    fn nothing_is_opened_unless_it_may_be() {
        let wish = TabWish {
            conversation: Some("https://chat.test/c/closed".into()),
            ..TabWish::default()
        };
        assert_eq!(choose(&site(), &wish), Err(TabFault::MayNotOpen));
        assert_eq!(choose(&[], &TabWish::default()), Err(TabFault::MayNotOpen));
    }

    #[test]
    fn a_percent_sign_more_or_a_slash_less_is_the_same_place() {
        assert!(same_place("http://h/c/x/", "http://h/c/x"));
        assert!(same_place("http://h:80/c/x", "http://h/c/x"));
        assert!(!same_place("http://h/c/x", "http://h/c/xy"));
        assert!(!same_place("http://h/c/x", "http://h/c/X"));
        assert!(!same_place("about:blank", "http://h/"));
    }
}
