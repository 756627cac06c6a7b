"""Grammars as people write them, each with a text that fits: none of them may be refused."""

from __future__ import annotations

EVERYDAY: dict[str, tuple[str, str]] = {
    "json": (
        r"""
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws (string ":" ws value ("," ws string ":" ws value)*)? "}" ws
array  ::= "[" ws (value ("," ws value)*)? "]" ws
string ::= "\"" ([^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt/] | "u" [0-9a-fA-F]{4}))* "\"" ws
number ::= "-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]+)? ([eE] [-+]? [0-9]{1,3})? ws
ws     ::= | " " | "\n" [ \t]{0,20}
""",
        '{"a": [1, -2.5e3, {"b": null}], "c": "x\\n"}',
    ),
    "json with any space": (
        (
            'root ::= ws value ws\nvalue ::= "[" ws (value ws ("," ws value ws)*)? "]" | [0-9]+ | "\\"" [^"]* "\\""\n'
            "ws ::= [ \\t\\n]*"
        ),
        '[ 1 , [2,\n  "three"] ]',
    ),
    "arithmetic": (
        (
            'root ::= (expr "=" ws num "\\n")+\nexpr ::= term ([-+*/] ws term)*\nterm ::= ident | num | "(" ws expr ")" ws\n'
            "ident ::= [a-z] [a-z0-9_]* ws\nnum ::= [0-9]+ ws\nws ::= [ \\t\\n]*"
        ),
        "(1 + x_1) * 2 = 7\n",
    ),
    "arithmetic, right to left": (
        'root ::= expr\nexpr ::= term "+" expr | term "-" expr | term\nterm ::= [0-9]+ | "(" expr ")" | "-" term',
        "((1+-2)-3)+4",
    ),
    "bullets": (
        'root ::= item+\nitem ::= "- " [^\\r\\n\\x0b\\x0c\\x85\\u2028\\u2029]+ "\\n"',
        "- tea\n- rain -- and sun\n",
    ),
    "numbered": ('root ::= ([1-9] [0-9]? ". " [^\\n]+ "\\n"){1,12}', "1. tea\n2. rain\n"),
    "chess": (
        (
            'root ::= ("1. " move " " move "\\n") ([1-9] [0-9]? ". " move (" " move)? "\\n")*\n'
            'move ::= (pawn | piece | castle) [+#]?\npiece ::= [NBKQR] [1-8a-h]? "x"? [a-h] [1-8]\n'
            'pawn ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?\ncastle ::= "O-O" "-O"?'
        ),
        "1. e4 e5\n2. Nf3 Nc6\n3. O-O exd4+\n",
    ),
    "a part of C": (
        r"""
root      ::= function+
function  ::= type name "(" parameter? ")" ws "{" ws statement* "}" ws
type      ::= ("int" | "float" | "char") " "+
name      ::= [a-zA-Z_] [a-zA-Z_0-9]*
parameter ::= type name
statement ::= type name ws "=" ws expr ";" ws | name ws "=" ws expr ";" ws | name "(" arguments? ")" ";" ws
            | "return " expr ";" ws | "while" ws "(" ws test ")" ws "{" ws statement* "}" ws
            | "if" ws "(" ws test ")" ws "{" ws statement* "}" ws ("else" ws "{" ws statement* "}" ws)? | comment
test      ::= expr ("==" | "<=" | ">=" | "!=" | "<" | ">") ws expr
expr      ::= product ws (("+" | "-") ws product ws)*
product   ::= factor (ws ("*" | "/") ws factor)*
factor    ::= name | number | "-" factor | name "(" arguments? ")" | "(" ws expr ")"
arguments ::= expr ("," ws expr)*
number    ::= [0-9]+
comment   ::= "//" [^\n]* "\n" ws
ws        ::= [ \t\n]*
""".replace("\n            |", " |"),
        (
            "int main(int n) {\n  // ----- sums\n  int s = 0;\n  while (n > 0) { s = s + f(n, -2) * (n - 1); n = n - 1; }\n"
            "  return s;\n}\n"
        ),
    ),
    "sentences": (
        'root ::= sentence+\nsentence ::= [A-Z] [a-z]* (" " [a-zA-Z,]+){0,30} [.!?] " "?',
        "It rains. Who knows? ",
    ),
    "words": ('root ::= ([a-zA-Z]+ " "?)+ "."', "so many words."),
    "table": (
        'root ::= row line row{1,20}\nrow ::= ("|" " "* [^|\\n]+)+ "|" "\\n"\nline ::= ("|" " "? "-"{3,} " "?)+ "|\\n"',
        "| a | b |\n| --- | --- |\n| 1 | two words |\n",
    ),
    "csv": (
        'root ::= row+\nrow ::= cell ("," cell)* "\\n"\ncell ::= [^,"\\n]* | "\\"" ([^"] | "\\"\\"")* "\\""',
        'a,"b, ""c""",\n1,,2\n',
    ),
    "mail": (
        'root ::= part ("." part)* "@" part ("." part)+\npart ::= [a-z0-9] [a-z0-9-]{0,30}',
        "a.b-c@d.example.org",
    ),
    "date": (
        'root ::= year "-" [01] [0-9] "-" [0-3] [0-9] (" " [0-2] [0-9] ":" [0-5] [0-9])?\nyear ::= [0-9]{4}',
        "2024-02-29 10:30",
    ),
    "thinking": (
        'root ::= "<think>" [^<]* "</think>" "\\n"* answer\nanswer ::= "yes" | "no"',
        "<think>Well ... ---</think>\n\nyes",
    ),
    "code block": (
        'root ::= "```python\\n" line+ "```"\nline ::= [^`\\n]* "\\n"',
        "```python\nx = 1  # ====\n\ny = 2\n```",
    ),
    "japanese": (
        "root ::= jp+ ([ \\t\\n] jp+)*\njp ::= hiragana | katakana\nhiragana ::= [ぁ-ゟ]\nkatakana ::= [ァ-ヿ]",
        "ひらがな カタカナ",
    ),
    "optional parts": ('root ::= "a"? "b"? " "? [0-9]? [0-9]? [0-9]? [a-z]{0,8} "-"* "."', "b 42xyz--."),
}
