package company

import (
	"cmp"
	"slices"
	"strings"
)

// An instruction is split into parts only if it has at least two and at most this many. More parts would not help a
// reader.
const (
	maxParts     = 20
	maxPartsText = 32 << 10 // bytes of an instruction that may be split
)

// maxCriteria limits the criteria that an instruction lists itself. With more it is judged as one.
const maxCriteria = 20

// InstructionPart is a paragraph of an instruction, or an item of its outermost lists with what is indented below it.
// Code belongs to the text before it.
type InstructionPart struct {
	Text string // on one line
	At   int    // byte offset of the text, after a bullet and a check box
}

// textBlock is a part of an instruction, or a heading with the code below it.
type textBlock struct {
	from, to int  // byte offsets of its lines
	at       int  // byte offset of its text
	level    int  // of a heading; 0 for a part
	isItem   bool // of a list
	isOpen   bool // with an empty check box
}

// blocksOf splits a text into blocks, in order.
func blocksOf(text string) (blocks []textBlock) {
	var open codeFence
	blank, indent, at := true, 0, 0 // indent: of the item that the lines belong to
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\r\n")
		inset := strings.TrimSpace(bare)
		own := len(bare) - len(strings.TrimLeft(bare, " \t"))
		block := textBlock{from: at, at: at + own}
		inItem := len(blocks) > 0 && blocks[len(blocks)-1].isItem
		begins := len(blocks) == 0
		fence, item := readFence(inset), findItem(bare)
		switch {
		case open.length > 0:
			if fence.closesFence(open) {
				open = codeFence{}
			}
		case fence.length > 0:
			open = fence
			block.level = maxHeading + 1 // code without a text before it
		case inset == "":
			begins = false
		case headingLevel(inset) > 0:
			block.level, begins = headingLevel(inset), true
		case item > 0 && !(inItem && own > indent):
			block.at, block.isItem, begins, indent = at+item, true, true, own
			block.isOpen = strings.HasSuffix(strings.TrimRight(bare[:item], " \t"), "[ ]")
		case item == 0 && (blank || inItem && strings.HasSuffix(strings.Trim(inset, "*_"), ":")): // other lines follow
			begins = begins || !inItem || own <= indent
		}
		if begins {
			blocks = append(blocks, block)
		}
		at += len(line)
		if len(blocks) > 0 {
			blocks[len(blocks)-1].to = at
		}
		blank = inset == "" || len(blocks) > 0 && blocks[len(blocks)-1].level > 0
	}
	return blocks
}

// countPieces counts the pieces of work that an instruction lists: sections, and items of its outermost lists.
func countPieces(text string) (n int) {
	for _, block := range blocksOf(text) {
		if block.isItem || block.level > 0 && block.level <= maxHeading {
			n++
		}
	}
	return n
}

// PartsOf returns the parts of an instruction. It returns nil if there is one part, or more than a reader can check one
// by one.
func PartsOf(instruction string) (parts []InstructionPart) {
	if len(instruction) > maxPartsText {
		return nil
	}
	for _, block := range blocksOf(instruction) {
		if block.level == 0 {
			text := strings.Join(strings.Fields(instruction[block.at:block.to]), " ")
			parts = append(parts, InstructionPart{text, block.at})
		}
	}
	if len(parts) < 2 || len(parts) > maxParts {
		return nil
	}
	return parts
}

// criteriaNames are the headings of a list of criteria, in lower case.
var criteriaNames = []string{"acceptance criteria", "acceptance criterion", "definition of done"}

// namesCriteria reports whether the last line of a text is the heading of a list of criteria. The line may be
// underlined, and end with words in brackets.
func namesCriteria(text string) bool {
	const marks = "#*_:=- \t\r\n"
	text = strings.Trim(text, marks)
	name := text[strings.LastIndex(text, "\n")+1:]
	if i := strings.Index(name, "("); i > 0 && strings.HasSuffix(name, ")") {
		name = name[:i]
	}
	return slices.Contains(criteriaNames, strings.ToLower(strings.Trim(name, marks)))
}

// Criteria returns what the instruction lists as its acceptance criteria: the items below such a heading, and items
// with an empty check box. It returns nil for the words of strangers, and if there are too many. Any other text is
// judged as a whole.
func (t *Task) Criteria() (criteria []string) {
	if t.quotesStrangers() || len(t.Instruction) > maxPartsText {
		return nil
	}
	if criteria = listCriteria(t.Instruction, 0); len(criteria) > maxCriteria {
		return nil
	}
	return criteria
}

// listCriteria returns the criteria in a text. level is that of a heading of criteria above the text: a heading of this
// level ends their list, and one below it does not. It is maxHeading for a line that is no heading, and 0 without one.
func listCriteria(text string, level int) (criteria []string) {
	afterItem := false
	for _, block := range blocksOf(text) {
		own := text[block.at:block.to]
		switch {
		case block.isItem && (level > 0 || block.isOpen):
			criteria = append(criteria, strings.Join(strings.Fields(own), " "))
		case block.isItem: // what is indented below it may be criteria
			head, below, _ := strings.Cut(own, "\n")
			inner := 0
			if namesCriteria(head) {
				inner = maxHeading
			}
			criteria = append(criteria, listCriteria(below, inner)...)
		case namesCriteria(own):
			level = cmp.Or(block.level, maxHeading)
		case block.level > 0 && block.level <= level, block.level == 0 && afterItem: // the list has ended
			level = 0
		}
		afterItem = block.isItem
	}
	return criteria
}

// codeFence is a fence line around code: its sign and length. bare means that no text follows the sign.
type codeFence struct {
	sign   string
	length int
	bare   bool
}

// readFence parses a line without surrounding spaces. It returns the zero value if the line is no fence (CommonMark
// 4.5).
func readFence(line string) codeFence {
	for _, sign := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, sign)
		if n := len(line) - len(rest); n >= 3 && (sign == "~" || !strings.Contains(rest, "`")) {
			return codeFence{sign, n, rest == ""}
		}
	}
	return codeFence{}
}

func (f codeFence) closesFence(open codeFence) bool {
	return f.bare && f.sign == open.sign && f.length >= open.length
}

// findItem returns the offset of an item's text in a line, after its bullet and check box. It returns 0 if the line
// does not begin an item.
func findItem(line string) int {
	rest := strings.TrimLeft(line, " \t")
	sign := strings.TrimLeft(rest, "0123456789")
	switch digits := len(rest) - len(sign); {
	case digits == 0 && strings.IndexAny(sign, "-*+") == 0,
		digits >= 1 && digits <= 3 && strings.IndexAny(sign, ".)") == 0:
	default:
		return 0
	}
	text := strings.TrimLeft(sign[1:], " \t")
	if text == "" || len(text) == len(sign)-1 { // no blank behind the sign
		return 0
	}
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		if after := strings.TrimLeft(strings.TrimPrefix(text, box), " \t"); strings.HasPrefix(text, box) && after != "" {
			text = after
			break
		}
	}
	return len(line) - len(text)
}

// maxHeading is the deepest level of a Markdown heading.
const maxHeading = 6

// headingLevel returns the level of a Markdown heading, or 0 if the line is no heading.
func headingLevel(line string) int {
	text := strings.TrimLeft(line, "#")
	if signs := len(line) - len(text); signs >= 1 && signs <= maxHeading && strings.IndexAny(text, " \t") == 0 {
		return signs
	}
	return 0
}

// quotesStrangers reports whether the instruction quotes a forge's comments or an issue. Those words stay where they
// are quoted.
func (t *Task) quotesStrangers() bool { return t.Follows != "" || t.Issue != nil }

// Parts returns the parts of a task's instruction, which a plan assigns to tickets.
func (t *Task) Parts() []InstructionPart {
	if t.quotesStrangers() {
		return nil
	}
	return PartsOf(t.Instruction)
}

// NumberParts returns the instruction with the number of each part before its text, from 1. It returns the instruction
// unchanged if it has no parts.
func (t *Task) NumberParts() (text string, parts int) {
	var b strings.Builder
	index := 0
	list := t.Parts()
	for i, part := range list {
		b.WriteString(t.Instruction[index:part.At] + "[" + itoa(i+1) + "] ")
		index = part.At
	}
	return b.String() + t.Instruction[index:], len(list)
}

// OwnPart returns the text of the instruction that a ticket carries out, with the headings above it. It is empty if the
// plan does not tell, or if there is no other ticket.
func (t *Task) OwnPart(sub *Subtask) string {
	if len(t.Subtasks) < 2 || len(t.Parts()) == 0 {
		return ""
	}
	var b strings.Builder
	var headings []textBlock // above the present block, and not written yet
	number := 0
	for _, block := range blocksOf(t.Instruction) {
		if block.level > 0 {
			headings = append(slices.DeleteFunc(headings, func(other textBlock) bool { return other.level >= block.level }),
				block)
			continue
		}
		if number++; !slices.Contains(sub.Planned.Does, number) {
			continue
		}
		for _, own := range append(headings, block) {
			b.WriteString(strings.TrimRight(t.Instruction[own.from:own.to], " \t\r\n") + "\n")
		}
		headings = nil
	}
	return b.String()
}
