package prbody

import (
	"strings"
	"unicode/utf8"
)

// Limits for the worker's texts above the fold, in characters. They are three times what the tool finish asks for; up
// to them a text is whole.
const (
	maxProblem = 900
	maxChange  = 1500
	maxRisks   = 600
)

// textBlock is a paragraph of a text, or an item of a list.
type textBlock struct {
	text   string
	isItem bool
}

// splitBlocks splits a text into its items and the paragraphs between them. Paragraphs in a row are joined as by
// flattenText.
func splitBlocks(text string) []textBlock {
	var blocks []textBlock
	var lines []string
	isItem, parted := false, false
	end := func() {
		if joined := flattenText(strings.Join(lines, "\n")); joined != "" {
			blocks = append(blocks, textBlock{joined, isItem})
		}
		lines = nil
	}
	for line := range strings.SplitSeq(stripText(text), "\n") {
		begins := listMark.MatchString(line)
		if begins || isItem && parted && strings.TrimSpace(line) != "" && !strings.HasPrefix(line, " ") {
			end()
			isItem = begins
		}
		parted = strings.TrimSpace(line) == ""
		lines = append(lines, line)
	}
	end()
	return blocks
}

// isWhole reports whether a worker's text stands whole and in its form above the fold.
func isWhole(text string, limit int) bool {
	return !strings.Contains(text, "```") && utf8.RuneCountInString(flattenText(text)) <= limit
}

// tellAuthor returns a worker's text as blocks of lines, whole and with its lists. A text that is longer than limit is
// cut at a sentence, and says where it goes on.
func tellAuthor(label, text string, limit int) [][]string {
	if utf8.RuneCountInString(flattenText(text)) > limit {
		short := shortenPlain(text, limit) + " (The rest stands under \"What changed\", below.)"
		return [][]string{wrapLine(label+short, "", "")}
	}
	var out [][]string
	for i, block := range splitBlocks(text) {
		inline := endLine(keepPlain(block.text))
		switch {
		case !block.isItem:
			out = append(out, wrapLine(label+inline, "", ""))
		case i == 0:
			out = append(out, append(wrapLine(label, "", ""), wrapLine(inline, "- ", "  ")...))
		default:
			last := len(out) - 1
			out[last] = append(out[last], wrapLine(inline, "- ", "  ")...)
		}
		label = ""
	}
	return out
}

// keepPlain returns a text as one harmless line, whole.
func keepPlain(text string) string {
	text = flattenText(text)
	return fitInline(text, 8*len(text)) // escaping makes it longer
}
