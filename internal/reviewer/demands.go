package reviewer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"company/internal/company"
	"company/internal/lazyregexp"
	"company/internal/safetext"
)

// Bounds of an instruction's parts: more of them do not help a reviewer.
const (
	maxDemands = 20
	maxDemand  = 400 // bytes of one
)

// ofInstruction begins a criterion that is a part of the instruction.
const ofInstruction = "of the instruction: "

var (
	listItem = lazyregexp.New(`^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)$`)
	heading  = lazyregexp.New(`^\s*#{1,6}\s`)
	initial  = lazyregexp.New(`^\pL\.$`) // of a name
	fence    = lazyregexp.New("^\\s*(?:```|~~~)")
)

// reviewCriteria are what a review's evidence is about: the ticket's own, and of a
// review that judges the whole the instruction, part by part.
func reviewCriteria(t *company.Task, sub *company.Subtask) []string {
	var out []string
	if sub != nil {
		out = append(out, sub.Planned.AcceptanceCriteria...)
		if !t.JudgesWhole() && !sub.Planned.IsInstruction() {
			return out
		}
	}
	// The text of a follow-up and of an issue is written by strangers: it stays where
	// it is quoted.
	parts := splitDemands(t.Instruction)
	if t.Follows != "" || t.Issue != nil || len(parts) < 2 {
		return append(out, "the instruction is carried out")
	}
	own := out
	for _, p := range parts {
		if !isCovered(p, own) {
			out = append(out, ofInstruction+p)
		}
	}
	return out
}

// isCovered reports whether one of the ticket's own criteria has all that a part of the instruction names:
// evidence for it is asked for once.
func isCovered(part string, own []string) bool {
	names := splitBare(part)
	return len(names) > 0 && slices.ContainsFunc(own, func(criterion string) bool {
		has := splitBare(criterion)
		return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(has, n) })
	})
}

// splitBare lists the parts of a text between blanks, without the signs around them.
func splitBare(text string) []string {
	var out []string
	for _, n := range strings.Fields(strings.ToLower(text)) {
		if n = strings.Trim(n, ".,;:!?()\"'`"); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// standsInParts reports whether the criteria have each word of the instruction, in its order.
func standsInParts(t *company.Task, sub *company.Subtask) bool {
	list := reviewCriteria(t, sub)
	if sub != nil {
		list = list[len(sub.Planned.AcceptanceCriteria):]
	}
	text := ""
	for _, c := range list {
		part, is := strings.CutPrefix(c, ofInstruction)
		if !is {
			return false
		}
		text += " " + part
	}
	return slices.Equal(strings.Fields(text), strings.Fields(t.Instruction))
}

// splitDemands are the parts of an instruction: items of its lists, and sentences.
// Which of them ask for something is the reader's to say. None: it is too long
// to be checked part by part.
func splitDemands(instruction string) []string {
	var out []string
	text := "" // of the paragraph, or of the item, so far
	item := false
	flush := func() {
		switch {
		case strings.TrimSpace(text) == "":
		case item:
			out = append(out, text)
		default:
			out = append(out, splitSentences(text)...)
		}
		text, item = "", false
	}
	fenced := false
	for line := range strings.Lines(instruction) {
		line = strings.TrimRight(line, "\r\n")
		if fence.MatchString(line) {
			fenced = !fenced
			continue
		}
		if fenced {
			continue // it stands in the instruction, literally
		}
		m := listItem.FindStringSubmatch(line)
		switch {
		case m != nil:
			flush()
			text, item = m[1], true
		case strings.TrimSpace(line) == "" || heading.MatchString(line):
			flush()
		case text == "":
			text = strings.TrimSpace(line)
		default:
			text += " " + strings.TrimSpace(line)
		}
	}
	flush()
	if len(out) > maxDemands {
		return nil
	}
	for i, p := range out {
		out[i] = safetext.CutBetweenWords(p, maxDemand)
	}
	return out
}

// abbreviated are abbreviations whose full stop ends no sentence.
var abbreviated = map[string]bool{"e.g.": true, "i.e.": true, "etc.": true, "vs.": true, "cf.": true, "approx.": true, "no.": true, "z.b.": true, "d.h.": true}

// splitSentences splits a paragraph. A full stop ends a sentence where a capital, a
// quotation or code follows, outside of brackets that are closed later.
func splitSentences(text string) []string {
	var out []string
	words := strings.Fields(text)
	begin := 0
	for i, w := range words {
		last := i == len(words)-1
		if !last && !(endsSentence(w) && beginsSentence(words[i+1])) {
			continue
		}
		if !last && isInBrackets(strings.Join(words[begin:i+1], " "), strings.Join(words[i+1:], " ")) {
			continue
		}
		out = append(out, strings.Join(words[begin:i+1], " "))
		begin = i + 1
	}
	return out
}

// isInBrackets reports whether brackets stand open behind a text that what follows it closes.
func isInBrackets(before, after string) bool {
	open := strings.Count(before, "(") - strings.Count(before, ")")
	return open > 0 && strings.Count(after, ")")-strings.Count(after, "(") >= open
}

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
