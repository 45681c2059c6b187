//! What controls and cards say, by language, as data.
//!
//! Labels are the second way to find a control; the first is its structure.
//! Compared whole after trimming, in lower case, unless the set says `within`.

use serde::Serialize;

use super::Confidence::{self, High, Low, Medium};

/// One set of labels with one meaning.
#[derive(Debug, Serialize)]
pub struct LabelSet {
    /// What the observer knows it by.
    pub name: &'static str,
    /// Whether the label may stand within a longer text.
    pub within: bool,
    /// The day of the newest source of the English ones; those of the other
    /// languages are known from pages of that time or inferred.
    pub seen: &'static str,
    /// Public projects that know them, by short name.
    pub source: &'static str,
    /// How sure that is.
    pub confidence: Confidence,
    /// The labels, each under its language.
    pub by: &'static [(&'static str, &'static [&'static str])],
}

/// All sets of labels.
pub const LABELS: &[LabelSet] = &[
    LabelSet {
        name: "stop",
        within: false,
        seen: "2026-09-26",
        source: "ORA, CCW, fixtures",
        confidence: High,
        by: &[
            (
                "en",
                &[
                    "stop",
                    "stop streaming",
                    "stop generating",
                    "stop answering",
                ],
            ),
            (
                "de",
                &[
                    "stopp",
                    "stoppen",
                    "anhalten",
                    "streaming stoppen",
                    "generierung stoppen",
                    "antwort stoppen",
                ],
            ),
            (
                "fr",
                &["arrêter", "arrêter la diffusion", "arrêter la génération"],
            ),
            (
                "es",
                &["detener", "detener transmisión", "detener generación"],
            ),
            ("pt", &["parar", "parar streaming", "interromper"]),
            (
                "ja",
                &[
                    "停止",
                    "ストリーミングの停止",
                    "ストリーミングを停止",
                    "生成を停止",
                ],
            ),
            (
                "zh",
                &["停止", "停止流式传输", "停止生成", "停止回答", "停止串流"],
            ),
        ],
    },
    LabelSet {
        name: "send",
        within: false,
        seen: "2026-09-26",
        source: "ORA, YOH, fixture",
        confidence: High,
        by: &[
            ("en", &["send", "send prompt", "send message"]),
            ("de", &["senden", "prompt senden", "nachricht senden"]),
            ("fr", &["envoyer", "envoyer le prompt"]),
            (
                "es",
                &["enviar", "enviar indicación", "enviar instrucciones"],
            ),
            ("pt", &["enviar", "enviar prompt"]),
            ("ja", &["送信", "プロンプトを送信する"]),
            ("zh", &["发送", "发送提示", "發送", "傳送"]),
        ],
    },
    LabelSet {
        name: "copy",
        within: false,
        seen: "2026-10-15",
        source: "ORA, CCS, fixtures",
        confidence: High,
        by: &[
            ("en", &["copy", "copy response", "copy reply"]),
            ("de", &["kopieren", "antwort kopieren"]),
            ("fr", &["copier", "copier la réponse"]),
            ("es", &["copiar", "copiar respuesta"]),
            ("pt", &["copiar", "copiar resposta"]),
            (
                "ja",
                &[
                    "コピー",
                    "コピーする",
                    "回答をコピー",
                    "回答をコピーする",
                    "応答をコピーする",
                ],
            ),
            ("zh", &["复制", "複製", "复制回复", "复制回答", "複製回覆"]),
        ],
    },
    LabelSet {
        name: "more",
        within: false,
        seen: "2026-08-15",
        source: "COS, inferred",
        confidence: Low,
        by: &[
            ("en", &["show more", "see more", "read more"]),
            ("de", &["mehr anzeigen"]),
            ("fr", &["afficher plus", "voir plus"]),
            ("es", &["mostrar más", "ver más"]),
            ("pt", &["mostrar mais", "ver mais"]),
            ("ja", &["もっと見る", "さらに表示", "表示を増やす"]),
            ("zh", &["显示更多", "展开", "顯示更多"]),
        ],
    },
    LabelSet {
        name: "continue",
        within: false,
        seen: "2025-06-01",
        source: "inferred",
        confidence: Low,
        by: &[
            ("en", &["continue generating"]),
            (
                "de",
                &["weiter generieren", "generierung fortsetzen", "fortfahren"],
            ),
            ("fr", &["continuer à générer", "continuer la génération"]),
            ("es", &["continuar generando", "seguir generando"]),
            ("pt", &["continuar gerando"]),
            ("ja", &["生成を続ける", "生成を続行", "生成し続ける"]),
            ("zh", &["继续生成", "繼續生成"]),
        ],
    },
    LabelSet {
        name: "retry",
        within: false,
        seen: "2026-08-15",
        source: "ORA, CJS, COS",
        confidence: Medium,
        by: &[
            ("en", &["retry", "try again"]),
            ("de", &["erneut versuchen", "wiederholen"]),
            ("fr", &["réessayer"]),
            ("es", &["reintentar", "volver a intentar"]),
            ("pt", &["tentar novamente"]),
            ("ja", &["再試行", "再試行する", "もう一度試す"]),
            ("zh", &["重试", "重試"]),
        ],
    },
    LabelSet {
        name: "choice",
        within: false,
        seen: "2025-06-01",
        source: "inferred",
        confidence: Low,
        by: &[
            ("en", &["i prefer this response", "prefer this response"]),
            ("de", &["ich bevorzuge diese antwort"]),
            ("fr", &["je préfère cette réponse"]),
            ("es", &["prefiero esta respuesta"]),
            ("pt", &["prefiro esta resposta"]),
            ("ja", &["この回答の方が好みです"]),
            ("zh", &["我更喜欢这个回复", "我更喜欢这个回答"]),
        ],
    },
    LabelSet {
        name: "stopped",
        within: false,
        seen: "2026-08-15",
        source: "ORA, COS",
        confidence: High,
        by: &[
            // "Stopped thinking" and "Thinking failed" are known; the rest is inferred.
            (
                "en",
                &[
                    "stopped thinking",
                    "thinking failed",
                    "you stopped this response",
                    "stopped generating",
                ],
            ),
            (
                "de",
                &[
                    "denken gestoppt",
                    "denken fehlgeschlagen",
                    "du hast diese antwort gestoppt",
                ],
            ),
            ("fr", &["réflexion interrompue", "échec de la réflexion"]),
            ("es", &["razonamiento detenido", "error al pensar"]),
            ("pt", &["raciocínio interrompido", "falha ao pensar"]),
            ("ja", &["思考を停止しました", "思考に失敗しました"]),
            ("zh", &["已停止思考", "思考失败"]),
        ],
    },
    LabelSet {
        name: "capacity",
        within: true,
        seen: "2026-08-15",
        source: "field case i5",
        confidence: Medium,
        by: &[
            ("en", &["is at capacity", "at capacity"]),
            ("de", &["ist ausgelastet"]),
            ("fr", &["à pleine capacité"]),
            (
                "es",
                &["está al límite de su capacidad", "a su máxima capacidad"],
            ),
            (
                "pt",
                &["está no limite da capacidade", "atingiu a capacidade"],
            ),
            ("ja", &["容量に達し", "混雑し"]),
            ("zh", &["已满载", "满负荷", "容量已满"]),
        ],
    },
    LabelSet {
        name: "delivery",
        within: true,
        seen: "2026-08-15",
        source: "field case i5",
        confidence: Medium,
        by: &[
            ("en", &["delivery timed out"]),
            (
                "de",
                &[
                    "zeitüberschreitung bei der zustellung",
                    "zeitüberschreitung bei der nachricht",
                ],
            ),
            (
                "fr",
                &["délai de livraison du message", "délai d'envoi du message"],
            ),
            (
                "es",
                &[
                    "tiempo de entrega del mensaje",
                    "tiempo de espera del mensaje",
                ],
            ),
            ("pt", &["tempo limite de entrega da mensagem"]),
            ("ja", &["メッセージの配信がタイムアウト"]),
            ("zh", &["消息发送超时", "消息传递超时"]),
        ],
    },
    LabelSet {
        name: "rate",
        within: true,
        seen: "2026-08-15",
        source: "ORA, CCW, COS",
        confidence: High,
        by: &[
            (
                "en",
                &[
                    "too many requests",
                    "temporarily limited access",
                    "you've reached your limit",
                    "you've hit your limit",
                ],
            ),
            ("de", &["zu viele anfragen", "zugriff vorübergehend"]),
            ("fr", &["trop de requêtes", "trop de demandes"]),
            ("es", &["demasiadas solicitudes"]),
            ("pt", &["solicitações demais", "muitas solicitações"]),
            ("ja", &["リクエストが多すぎます"]),
            ("zh", &["请求过多", "请求太多", "請求過多"]),
        ],
    },
    LabelSet {
        name: "account",
        within: true,
        seen: "2025-06-01",
        source: "inferred",
        confidence: Low,
        by: &[
            (
                "en",
                &[
                    "account has been deactivated",
                    "account has been suspended",
                    "account is suspended",
                    "unusual activity",
                    "verify your account",
                ],
            ),
            ("de", &["konto wurde deaktiviert", "konto wurde gesperrt"]),
            ("fr", &["compte a été désactivé", "compte a été suspendu"]),
            (
                "es",
                &["cuenta ha sido desactivada", "cuenta ha sido suspendida"],
            ),
            ("pt", &["conta foi desativada", "conta foi suspensa"]),
            ("ja", &["アカウントは無効", "アカウントが停止"]),
            ("zh", &["账号已被停用", "帐户已被停用", "帳號已被停用"]),
        ],
    },
    LabelSet {
        name: "no_language",
        within: false,
        seen: "2026-08-15",
        source: "inferred",
        confidence: Low,
        by: &[
            ("en", &["plain text", "code"]),
            ("de", &["nur text", "klartext", "code"]),
            ("fr", &["texte brut"]),
            ("es", &["texto sin formato", "texto plano"]),
            ("pt", &["texto sem formatação", "texto simples"]),
            ("ja", &["プレーンテキスト", "コード"]),
            ("zh", &["纯文本", "純文字"]),
        ],
    },
    LabelSet {
        name: "login",
        within: false,
        seen: "2026-08-15",
        source: "ORA, CJS",
        confidence: High,
        by: &[
            (
                "en",
                &["log in", "login", "sign in", "sign up", "sign up for free"],
            ),
            ("de", &["anmelden", "einloggen", "registrieren"]),
            ("fr", &["se connecter", "connexion", "s'inscrire"]),
            ("es", &["iniciar sesión", "registrarse"]),
            ("pt", &["entrar", "iniciar sessão", "cadastre-se"]),
            ("ja", &["ログイン", "サインアップ", "無料でサインアップ"]),
            ("zh", &["登录", "登入", "注册"]),
        ],
    },
    LabelSet {
        name: "challenge_title",
        within: false,
        seen: "2026-08-15",
        source: "ORA, CGS",
        confidence: High,
        by: &[
            ("en", &["just a moment..."]),
            ("de", &["nur einen moment…", "nur einen moment..."]),
            ("fr", &["un instant…", "un instant..."]),
            ("es", &["un momento…", "un momento..."]),
            ("pt", &["um momento…", "um momento..."]),
            ("ja", &["しばらくお待ちください...", "お待ちください..."]),
            ("zh", &["请稍候…", "请稍候..."]),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    const LANGUAGES: [&str; 7] = ["en", "de", "fr", "es", "pt", "ja", "zh"];

    #[test]
    fn every_label_is_known_in_every_language_with_a_date_and_a_source() {
        for set in LABELS {
            let named: Vec<_> = set.by.iter().map(|(language, _)| *language).collect();
            assert_eq!(named, LANGUAGES, "{}", set.name);
            assert!(set.seen.len() == 10 && !set.source.is_empty());
            for word in set.by.iter().flat_map(|(_, words)| *words) {
                assert_eq!(*word, word.to_lowercase(), "compared in lower case");
                assert!(
                    !set.within || word.chars().count() >= 3,
                    "{word} is too short"
                );
            }
        }
    }
}
