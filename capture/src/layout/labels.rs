//! What controls and cards say, by language, as data.
//!
//! Labels are the second way to find a control; the first is its structure.
//! Compared whole after trimming, in lower case, unless the set says `within`.

use serde::Serialize;

/// One set of labels with one meaning.
#[derive(Debug, Serialize)]
pub struct LabelSet {
    /// What the observer knows it by.
    pub name: &'static str,
    /// Whether the label may stand within a longer text.
    pub within: bool,
    /// The labels, each under its language.
    pub by: &'static [(&'static str, &'static [&'static str])],
}

/// All sets of labels.
pub const LABELS: &[LabelSet] = &[
    LabelSet {
        name: "stop",
        within: false,
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
        by: &[
            ("en", &["i prefer this response", "prefer this response"]),
            ("de", &["ich bevorzuge diese antwort"]),
            ("fr", &["je préfère cette réponse"]),
            ("es", &["prefiero esta respuesta"]),
            ("ja", &["この回答の方が好みです"]),
            ("zh", &["我更喜欢这个回复", "我更喜欢这个回答"]),
        ],
    },
    LabelSet {
        name: "stopped",
        within: false,
        by: &[
            (
                "en",
                &[
                    "stopped thinking",
                    "thinking failed",
                    "you stopped this response",
                    "stopped generating",
                ],
            ),
            ("de", &["denken gestoppt", "du hast diese antwort gestoppt"]),
            ("fr", &["réflexion interrompue"]),
            ("ja", &["思考を停止しました"]),
            ("zh", &["已停止思考", "思考失败"]),
        ],
    },
    LabelSet {
        name: "capacity",
        within: true,
        by: &[
            ("en", &["is at capacity", "at capacity"]),
            ("de", &["ist ausgelastet"]),
            ("fr", &["à pleine capacité"]),
            ("ja", &["容量に達し", "混雑し"]),
            ("zh", &["已满载", "满负荷", "容量已满"]),
        ],
    },
    LabelSet {
        name: "delivery",
        within: true,
        by: &[
            (
                "en",
                &["delivery timed out", "message could not be delivered"],
            ),
            (
                "de",
                &["zustellung", "zeitüberschreitung bei der nachricht"],
            ),
            ("zh", &["消息发送超时"]),
        ],
    },
    LabelSet {
        name: "rate",
        within: true,
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
            ("zh", &["账号已被停用", "帐户已被停用"]),
        ],
    },
    LabelSet {
        name: "login",
        within: false,
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
