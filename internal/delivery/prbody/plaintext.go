package prbody

import "strings"

// PlainText converts the text of a pull request for a terminal. It removes the escaping for forges and hidden
// comments. Folded parts follow the open part, below their summary.
func PlainText(body string) string {
	var out []string
	for line := range strings.SplitSeq(body, "\n") {
		switch bare := strings.TrimRight(line, " "); {
		case strings.HasPrefix(bare, "<!--") && strings.HasSuffix(bare, "-->"), bare == "<details>", bare == "</details>":
		case strings.HasPrefix(bare, "<details><summary>"), strings.HasPrefix(bare, "<summary>"):
			out = append(out, "-- "+strings.NewReplacer("<details>", "", "<summary>", "", "</summary>", "").Replace(bare)+" --")
		default:
			out = append(out, line)
		}
	}
	return unescapeBody.Replace(strings.Join(out, "\n"))
}

var unescapeBody = strings.NewReplacer("\u200b", "", "&lt;", "<", "&gt;", ">", "&amp;", "&", "!\\[", "![", "\\|", "|")
