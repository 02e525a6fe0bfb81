#include "run/families.h"

/* A value which hides nothing: our own marker, stars, a variable, a placeholder, a digest, null and
 * its kin. */
#define SKIP                                                                                       \
        "(?!\\[redacted:|(?:\\S{0,128}@)?sha(?:1|224|256|384|512)[:-]|(?:\\*{3,}|\\$\\{[^}\\s]*"   \
        "\\}|\\$[A-Za-z_]\\w*|<[^>\"'\r\n]{0,40}>|%[a-z]|"                                         \
        "\\{\\{[^}]*\\}\\}|null|nil|none|true|false|undefined|yes|no)(?=[\"'`\\s,;)}\\]\\\\]|$))"
/* Password words, and those which prose uses too. */
#define PASS                                                                                       \
        "(?:pass(?:word|wd|phrase)|pwd(?!=/)|secret|(?:api|access|private)[_. "                    \
        "-]?key|credentials?|conn(?:ection)?[_. -]?str(?:ing)?)"
#define WORD "(?:token(?!s\\b|iz)|auth(?!or)|session|cookie|(?<![a-z])dsn)"
#define HARD "(?:" PASS "|token(?!s\\b|iz)|(?<![a-z])dsn)"
#define TAIL "(?![\\w-]{0,30}(?:file|path|dir)\\b)[\\w.-]{0,40}+"
#define SHUT "\\\\{0,7}[\"'\\]]{0,2}[ \\t]{0,8}+"
#define SEP "(?:=>|:=|(?<![!<>=])=(?![=>])|:)[ \\t]{0,16}+"
#define EQUALS "(?:=>|:=|(?<![!<>=])=(?![=>]))[ \\t]{0,16}+"
#define QUOTED                                                                                     \
        "\"" SKIP "((?:[^\"\\\\]++|\\\\.)++)|'" SKIP "([^']++)|`" SKIP                             \
        "([^`]++)|\\\\{1,7}[\"']" SKIP "([^\"'\\\\]++)"
/* The same where a host follows. */
#define SKIP_AT "(?!\\[redacted:|(?:\\*{3,}|\\$\\{[^}\\s]*\\}|\\$\\w+|<[^>\\s]*>|%[a-z])@)"
#define BARE SKIP "(?!\\\\{1,7}[\"'])([^\\s\"'`]\\S*+)"
#define WORDS_KEY                                                                                  \
        {                                                                                          \
                "pass", "pwd", "secret", "key", "credential", "token", "auth", "session",          \
                        "cookie", "dsn", "connstr", "conn_str", "conn-str", "conn.str",            \
                        "conn str", "connection"                                                   \
        }
#define B64 "[A-Za-z0-9+/]"
#define B64URL "[A-Za-z0-9_-]"
#define LEFT "(?<![A-Za-z0-9])"

const char *const family_key[2] = {"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}",
                                   "-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"};

const Family family_table[] = {
        /* tokens with a vendor's prefix */
        {"aws",
         "(?<![A-Z0-9])A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}(?![A-Z0-9])",
         FAMILY_EXACT,
         {"AKIA", "ASIA", "ABIA", "ACCA"}},
        {"github", LEFT "gh[pousr]_\\w{36,}", 0, {"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}},
        {"github", LEFT "github_pat_\\w{22,}", 0, {"github_pat_"}},
        {"gitlab",
         LEFT "(?:gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\\w.=-]{20,}|GR1348941" B64URL
              "{20,})",
         0,
         {"glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-",
          "glsoat-", "glffct-", "GR1348941"}},
        {"slack",
         LEFT "(?:xox[a-z](?:\\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})",
         0,
         {"xox", "xapp-"}},
        {"slack",
         "hooks\\.slack\\.com/(?:services|workflows|triggers)/([\\w/+-]{20,})",
         0,
         {"hooks.slack.com"}},
        {"stripe",
         LEFT "(?:[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_" B64 "{24,}=*)",
         0,
         {"sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"}},
        {"google",
         LEFT "(?:AIza" B64URL "{35}(?!" B64URL ")|ya29\\." B64URL "{20,}|GOCSPX-" B64URL
              "{20,}|1//0" B64URL "{40,})",
         0,
         {"AIza", "ya29.", "GOCSPX-", "1//0"}},
        {"openai",
         "(?<![\\w-])sk-(?:[A-Za-z0-9]{32,}|(?:proj|svcacct|admin|service|or-v1|lf)-" B64URL
         "{20,})",
         0,
         {"sk-"}},
        {"anthropic", "(?<![\\w-])sk-ant-" B64URL "{20,}", 0, {"sk-ant-"}},
        {"npm", LEFT "npm_[A-Za-z0-9]{36}(?!\\w)", 0, {"npm_"}},
        {"pypi", LEFT "pypi-A" B64URL "{50,}", 0, {"pypi-A"}},
        {"docker", LEFT "dckr_(?:pat|oat)_" B64URL "{20,}", 0, {"dckr_"}},
        {"digitalocean", LEFT "do[opr]_v1_[a-f0-9]{64}", 0, {"doo_v1_", "dop_v1_", "dor_v1_"}},
        {"huggingface", LEFT "(?:hf|api_org)_[A-Za-z0-9]{34}(?!\\w)", 0, {"hf_", "api_org_"}},
        {"sendgrid", LEFT "SG\\." B64URL "{16,32}\\." B64URL "{30,64}", FAMILY_EXACT, {"SG."}},
        {"twilio", LEFT "(?:SK|AC)[0-9a-f]{32}(?!\\w)", FAMILY_EXACT, {"SK", "AC"}},
        {"telegram", "(?<![0-9])[0-9]{8,10}:A" B64URL "{34}(?!" B64URL ")", FAMILY_EXACT, {":A"}},
        {"vault", LEFT "hv[sbr]\\." B64URL "{20,}", 0, {"hvs.", "hvb.", "hvr."}},
        {"terraform", LEFT "[A-Za-z0-9]{14}\\.atlasv1\\.[\\w=-]{60,}", 0, {".atlasv1."}},
        {"age", "AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{50,}", 0, {"AGE-SECRET-KEY-"}},
        {"azure",
         "(?i)(?:AccountKey|SharedAccessKey)=(" B64 "{40,}={0,2})",
         0,
         {"AccountKey=", "SharedAccessKey="}},
        {"signature",
         "(?i)(?<![a-z])(?:sig|signature|x-amz-signature|x-goog-signature|x-amz-security-token)=(["
         "\\w%+/=-]{32,})",
         0,
         {"sig=", "signature=", "x-amz-security-token="}},

        /* shapes with a structure of their own */
        {"jwt",
         "(?<!" B64URL ")eyJ" B64URL "{8,}+\\." B64URL "{8,}+\\." B64URL "*+(?:\\." B64URL
         "++){0,2}",
         FAMILY_EXACT,
         {"eyJ"}},
        {FAMILY_KEY,
         "LS0tLS1CRUdJTi(?:BQUklW|BSU0Eg|BFQyB|BPUEVOU1NI|BEU0Eg|BFTkNSWVBU|BQR1AgUFJJ)[A-Za-z0-9+/"
         "=]*",
         FAMILY_EXACT,
         {"LS0tLS1CRUdJTi"}},
        {"url", "://[^\\s/?#@:\"'<>]{0,256}+:" SKIP_AT "([^\\s/?#\"'<>]{1,512})@", 0, {"://"}},
        {"url",
         "://[^\\s/?#@:\"'<>]{1,64}+:(?!\\d{1,5}(?:[/?#\\s\"']|$))" SKIP_AT
         "([^\\s\"'<>]{1,256})@\\w",
         0,
         {NULL}},
        {"authorization",
         "(?i)authorization" SHUT SEP "\\\\{0,7}[\"']?(?|(?:digest|aws4-hmac-sha256)[ \\t]+" SKIP
         "([^\\r\\n]++)|"
         "(?:(?:bearer|basic|token|digest|negotiate|ntlm|api-?key|bot|key|aws4-hmac-sha256)[ "
         "\\t]+)?+" SKIP "([^\\s\"'\\\\]++))",
         0,
         {"authorization"}},
        {"authorization", "(?i)(?<![a-z])bearer[ \\t]+([\\w.~+/-]{16,}+=*)", 0, {"bearer"}},
        {"cookie",
         "(?i)(?<=[\"'])(?:set-)?cookie:[ \\t]*(?=[^\\s=;,\"']{1,128}=)([^\"'\\r\\n]++)",
         0,
         {"cookie"}},
        {"cookie",
         "(?i)(?<![\"'])(?:set-)?cookie:[ \\t]*(?=[^\\s=;,\"']{1,128}=)([^\\r\\n]++)",
         0,
         {NULL}},
        {"header",
         "(?i)(?<![\\w-])x-[\\w-]{0,30}?(?:key|token|secret|password|auth|signature)\\b[ \\t]*:[ "
         "\\t]*" BARE,
         0,
         {"x-"}},
        {"docker-auth",
         "(?i)\"(?:auth|identitytoken|registrytoken)\\\\?\"\\s*:\\s*\\\\?\"([\\w+/=.-]{8,})",
         0,
         {"\"auth", "token"}},
        {"netrc", "(?i)(?:login|account)[ \\t]+\\S+[ \\t]+password[ \\t]+" BARE, 0, {"password"}},
        {"netrc",
         "(?i)(?:^|\\|)[ \\t]*password[ \\t]+" SKIP "([^\\s\"'=:]\\S*+)[ \\t\\r]*$",
         0,
         {NULL}},
        {"hash",
         "\\$(?:apr1|1|2[abxy]?|5|6|7|g?y|sha1|md5|argon2(?:id|i|d)|pbkdf2[a-z0-9-]*|scrypt)\\$["
         "\\w./$=,+-]{20,}",
         0,
         {"$apr1$", "$1$", "$2", "$5$", "$6$", "$7$", "$y$", "$gy$", "$sha1$", "$md5$", "$argon2",
          "$pbkdf2", "$scrypt$"}},
        {"hash", "\\{S?SHA(?:256|512)?\\}" B64 "{27,}={0,2}", 0, {"{SHA", "{SSHA"}},
        {"kubeconfig",
         "client-key-data\\\\?[\"']?:[ \\t]*\\\\?[\"']?(" B64 "{16,}={0,2})",
         0,
         {"client-key-data"}},

        /* KEY=value and its kin: shell, dotenv, YAML, JSON, options, SQL */
        {"value", "(?i)" HARD TAIL SHUT SEP "(?|" QUOTED ")", 0, WORDS_KEY},
        {"value", "(?i)" HARD TAIL SHUT EQUALS BARE, 0, {NULL}},
        {"value",
         "(?i)" PASS "[\"'\\]]{0,2}[ \\t]?:(?!//)[ \\t]{0,16}+" SKIP "([^\\s\"'`\\\\|>]\\S*+)",
         0,
         {NULL}},
        {"value",
         "(?i)" HARD TAIL SHUT ":[ \\t]+(?=[^\\s\\d]{0,64}\\d)" SKIP "([^\\s\"'`\\\\]\\S{7,}+)",
         0,
         {NULL}},
        {"value",
         "(?i)" WORD "(?![\\w-]{0,30}(?:file|path|dir)\\b)[\\w-]{0,40}+" SHUT "(?:" EQUALS
         "|:[ \\t]{1,16}+|:(?=[\\\\\"']))\\\\{0,7}[\"']?(?!https?://|\\d+(?:[\"'\\s,;)}\\]]|$))"
         "(?=[^\\s\"'\\d]{0,64}\\d)" SKIP "([^\\s\"'\\\\;,]{8,}+)",
         0,
         {NULL}},
        {"value",
         "(?i)(?<![\\w-])--[\\w-]{0,30}?" HARD
         "(?![\\w-]*(?:file|path|stdin|ttl|timeout))[\\w-]{0,20}(?:[ \\t]+|=)(?|" QUOTED
         "|(?!-)" BARE ")",
         0,
         {NULL}},
        {"value",
         "(?i)(?:password|identified[ \\t]+by)[ \\t]+(?|" QUOTED ")",
         0,
         {"password", "identified"}},
        {"entropy",
         "(?i)(?:" PASS "|" WORD
         ")(?:(?!commit|sha|digest|rev|image|tree|merge|layer)[^\\r\\n]){0,40}?(?<![\\w+/=.:-])"
         "([\\w+/-]{20,}+={0,2})",
         FAMILY_ENTROPY, WORDS_KEY},
        {NULL, NULL, 0, {NULL}},
};

bool family_is_mixed(const char *text, size_t len) {
        size_t count[256] = {0}, same = 0, upper = 0, lower = 0, digit = 0, beyond_f = 0;

        for (size_t i = 0; i < len; i++) {
                char c = text[i];

                count[(unsigned char)c]++;
                upper += c >= 'A' && c <= 'Z';
                lower += c >= 'a' && c <= 'z';
                digit += c >= '0' && c <= '9';
                beyond_f += !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
        }
        for (size_t i = 0; i < 256; i++)
                same += count[i] * count[i];
        if (beyond_f == 0)
                return lower > 0 && digit > 0 && same * 7 <= len * len;
        return upper > 0 && lower > 0 && digit > 0 && same * 11 <= len * len;
}
