package prbody

import (
	"strings"
	"unicode/utf8"

	"company/internal/lib/lazyregexp"
)

// Limits for the worker's texts above the fold, in characters. They are three times what the tool finish asks for; up
// to them a text is whole. A short paragraph or item counts as minBlock characters, so that a list has a bound, too.
const (
	maxProblem = 900
	maxChange  = 1500
	maxRisks   = 600
	minBlock   = 75
)

// restBelow says where a text goes on that is not whole above the fold.
const restBelow = "The rest stands under \"What changed\", below."

// maxIndent limits the blanks before a nested item.
const maxIndent = 12

// textBlock is a paragraph of a text, or an item of a list.
type textBlock struct {
	text string
	mark string // of an item, with the blanks around it
}

// isNumbered reports whether the block is an item with a number.
func (b textBlock) isNumbered() bool { return strings.ContainsAny(b.mark, ".)") }

// splitBlocks splits a text into its items and the paragraphs between them. Paragraphs in a row are joined as by
// flattenText.
func splitBlocks(text string) []textBlock {
	var blocks []textBlock
	var lines []string
	mark, outer := "", 0 // outer is the indent of the list
	parted := false      // after a blank line
	end := func() {
		if joined := flattenText(strings.Join(lines, "\n")); joined != "" {
			blocks = append(blocks, textBlock{joined, mark})
		}
		lines = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		sign := listMark.FindString(line)
		if sign != "" || mark != "" && parted && strings.TrimSpace(line) != "" && !strings.HasPrefix(line, " ") {
			end()
			indent := countIndent(sign)
			if mark == "" {
				outer = indent
			}
			if mark = strings.TrimSpace(sign); mark != "" {
				mark = strings.Repeat(" ", min(max(indent-outer, 0), maxIndent)) + mark + " "
			}
		}
		parted = strings.TrimSpace(line) == ""
		lines = append(lines, line)
	}
	end()
	return blocks
}

func countIndent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// fixedForm matches a line with a fence or of a table, also inside a quotation or an item.
var fixedForm = lazyregexp.New("```|^(?:\\s|>|[-*+]\\s|\\d{1,3}[.)]\\s)*(?:~~~|\\|)|^[\\s:-]+\\|[\\s|:-]+$")

// cutCode returns a text without hidden characters up to its first fenced block, indented code or table, which would
// lose its form above the fold. It reports whether that is the whole text.
func cutCode(text string) (head string, isWhole bool) {
	text = strings.ReplaceAll(stripText(text), "\t", "    ")
	begin, parted := 0, false // begin is where the text of the present item begins in its line
	size := 0
	for line := range strings.Lines(text) {
		isBlank := strings.TrimSpace(line) == ""
		if fixedForm.MatchString(line) || parted && !isBlank && countIndent(line) >= begin+4 {
			return text[:size], false
		}
		if sign := listMark.FindString(line); sign != "" || parted && !isBlank && countIndent(line) == 0 {
			begin = len(sign)
		}
		parted = isBlank
		size += len(line)
	}
	return text, true
}

// fitBlocks returns the blocks of a worker's text that stand above the fold, as harmless lines. It reports whether
// they are the whole text, in its form. The last block may be cut at a sentence.
func fitBlocks(text string, limit int) (blocks []textBlock, isWhole bool) {
	text, isWhole = cutCode(text)
	for _, block := range splitBlocks(text) {
		size := max(minBlock, utf8.RuneCountInString(block.text))
		if size > limit {
			if limit >= minBlock {
				blocks = append(blocks, textBlock{shortenPlain(block.text, limit), block.mark})
			}
			return blocks, false
		}
		limit -= size
		blocks = append(blocks, textBlock{endLine(keepPlain(block.text)), block.mark})
	}
	return blocks, isWhole
}

// tellAuthor returns a worker's text as blocks of lines, with its lists. A text that is not whole says where it goes
// on.
func tellAuthor(label, text string, limit int) [][]string {
	blocks, isWhole := fitBlocks(text, limit)
	if last := len(blocks) - 1; isWhole && last < 0 {
		return nil
	} else if last < 0 {
		blocks = []textBlock{{text: "(It stands under \"What changed\", below.)"}}
	} else if !isWhole {
		blocks[last].text += " (" + restBelow + ")"
	}
	var out [][]string
	if blocks[0].mark != "" && label != "" {
		out, label = append(out, []string{markLine("", label)}), ""
	}
	isList := false
	for _, block := range blocks {
		line := markLine(block.mark, label+block.text)
		// Markdown takes a number below a line of text for a part of the text.
		if last := len(out) - 1; last < 0 || block.mark == "" || block.isNumbered() && !isList {
			out = append(out, []string{line})
		} else {
			out[last] = append(out[last], line)
		}
		label, isList = "", block.mark != ""
	}
	return out
}

// keepPlain returns a text as one harmless line, whole.
func keepPlain(text string) string {
	text = flattenText(text)
	return fitInline(text, 8*len(text)) // escaping makes it longer
}
