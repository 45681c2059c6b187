//! What the page can say (observations) and be told (commands).
