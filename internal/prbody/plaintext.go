package prbody

import "strings"

// PlainText is the text of a pull request for people at a terminal: what makes it
// harmless on a forge's page is taken off again, and what a page does not show is
// left out. What a page folds stands after the open part, below its summary.
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
