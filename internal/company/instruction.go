package company

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"company/internal/lazyregexp"
)

// An instruction has parts where it has at least two and at most so many: more of them help no
// reader.
const (
	maxParts     = 20
	maxPartsText = 32 << 10 // bytes of an instruction that is split
)

// InstructionPart is one part of an instruction: an item of a list, or a sentence. Which of
// them ask for something is the reader's to say.
type InstructionPart struct {
	Text string // its words in one line; what stands fenced is not among them
	At   int    // where the text begins, in bytes
	From int    // where the part begins, with the headings above it
	To   int    // where the next part begins
}

var (
	listItem = lazyregexp.New(`^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)$`)
	heading  = lazyregexp.New(`^\s*#{1,6}\s`)
	initial  = lazyregexp.New(`^\pL\.$`) // of a name
	fence    = lazyregexp.New("^\\s*(?:```|~~~)")
)

// PartsOf splits an instruction; none where it has one part, or more than a reader can check one by
// one.
func PartsOf(instruction string) []InstructionPart {
	if len(instruction) > maxPartsText {
		return nil
	}
	p := partSplitter{headed: -1}
	at, fenced := 0, false
	for line := range strings.Lines(instruction) {
		bare := strings.TrimRight(line, "\r\n")
		item := listItem.FindStringSubmatchIndex(bare)
		switch {
		case fence.MatchString(bare):
			fenced = !fenced
		case fenced: // it stands in the instruction, literally
		case strings.TrimSpace(bare) == "":
			p.endBlock()
		case heading.MatchString(bare):
			p.endBlock()
			if p.headed < 0 {
				p.headed = at
			}
		case item != nil:
			p.endBlock()
			p.item = true
			p.addWords(bare[item[2]:], at+item[2], at)
		default:
			p.addWords(bare, at, at)
		}
		at += len(line)
	}
	p.endBlock()
	if len(p.parts) < 2 || len(p.parts) > maxParts {
		return nil
	}
	for i := range p.parts {
		p.parts[i].To = len(instruction)
		if i > 0 {
			p.parts[i-1].To = p.parts[i].From
		}
	}
	p.parts[0].From = 0
	return p.parts
}

// partSplitter collects the words of a paragraph or of an item, and makes parts of them.
type partSplitter struct {
	parts  []InstructionPart
	words  []word
	item   bool // the words are those of an item of a list
	headed int  // where the headings above the words begin; below 0: there are none
	begins int  // where the line of the first word begins
}

// word is one word of an instruction, and where it begins.
type word struct {
	text string
	at   int
}

func (p *partSplitter) addWords(text string, at, lineAt int) {
	if len(p.words) == 0 {
		p.begins = lineAt
	}
	for field := range strings.FieldsSeq(text) {
		i := strings.Index(text, field)
		p.words = append(p.words, word{field, at + i})
		text, at = text[i+len(field):], at+i+len(field)
	}
}

// endBlock makes the words that were collected a part, or one part a sentence.
func (p *partSplitter) endBlock() {
	begin := 0
	for i, w := range p.words {
		if last := i == len(p.words)-1; !last && (p.item || !(endsSentence(w.text) && beginsSentence(p.words[i+1].text))) {
			continue
		}
		p.addPart(p.words[begin : i+1])
		begin = i + 1
	}
	p.words, p.item = p.words[:0], false
	if begin > 0 {
		p.headed = -1
	}
}

func (p *partSplitter) addPart(words []word) {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	part := InstructionPart{Text: strings.Join(texts, " "), At: words[0].at, From: words[0].at}
	if words[0].at == p.words[0].at { // the first of its block has the headings, and the sign of an item
		part.From = p.begins
		if p.headed >= 0 {
			part.From = p.headed
		}
	}
	p.parts = append(p.parts, part)
}

// abbreviated are abbreviations whose full stop ends no sentence.
var abbreviated = map[string]bool{"e.g.": true, "i.e.": true, "etc.": true, "vs.": true, "cf.": true, "approx.": true, "no.": true, "z.b.": true, "d.h.": true}

// endsSentence reports whether a word ends a sentence where a capital, a quotation or code follows.
func endsSentence(word string) bool {
	bare := strings.TrimRight(word, `)"'”’`+"`")
	r, _ := utf8.DecodeLastRuneInString(bare)
	if !strings.ContainsRune(".!?;。！？", r) {
		return false
	}
	bare = strings.TrimLeft(bare, `("'`)
	return !abbreviated[strings.ToLower(bare)] && !initial.MatchString(bare)
}

func beginsSentence(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return !unicode.IsLower(r)
}

// Parts are the parts of a task's instruction. The text of a follow-up and of an issue is
// written by strangers: it stays where it is quoted, and has none.
func (t *Task) Parts() []InstructionPart {
	if t.Follows != "" || t.Issue != nil {
		return nil
	}
	return PartsOf(t.Instruction)
}

// NumberParts is the instruction with the number of each part before its text, from 1; the
// instruction as it is where it has none.
func (t *Task) NumberParts() (text string, parts int) {
	var b strings.Builder
	at := 0
	list := t.Parts()
	for i, p := range list {
		b.WriteString(t.Instruction[at:p.At] + "[" + itoa(i+1) + "] ")
		at = p.At
	}
	return b.String() + t.Instruction[at:], len(list)
}

// OwnPart is what a ticket carries out of the instruction, as it stands there, with its
// headings. Empty: the plan does not say, or the ticket has no others beside it.
func (t *Task) OwnPart(sub *Subtask) string {
	parts := t.ownParts(sub)
	if len(t.Subtasks) < 2 || len(parts) == 0 {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(strings.TrimRight(t.Instruction[p.From:p.To], " \t\r\n") + "\n")
	}
	return b.String()
}

// ownParts are the parts that a ticket's plan names, in the order of the instruction.
func (t *Task) ownParts(sub *Subtask) (own []InstructionPart) {
	for i, p := range t.Parts() {
		if sub.Planned.doesPart(i + 1) {
			own = append(own, p)
		}
	}
	return own
}

// OwnDemands are the texts of the parts that a ticket carries out, where others do the rest.
func (t *Task) OwnDemands(sub *Subtask) (texts []string) {
	if len(t.Subtasks) < 2 {
		return nil
	}
	for _, p := range t.ownParts(sub) {
		texts = append(texts, p.Text)
	}
	return texts
}
