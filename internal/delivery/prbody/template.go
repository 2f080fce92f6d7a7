package prbody

import (
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

// Limits of a template, in bytes. A filled one fits with MaxPRBytes into a pull request.
const (
	maxTemplate     = 32 << 10 // as it is read, with its comments
	maxTemplateText = 4 << 10  // of what is left of it
	maxTemplateLine = 1000
)

// slot is a kind of section that templates ask for, and the part of our text that belongs into it.
type slot int

const (
	noSlot slot = iota // for a person
	riskSlot
	testSlot
	issueSlot
	changeSlot
	problemSlot
)

// slotNames match the headings of each slot. The first match counts.
var slotNames = []struct {
	slot slot
	name *lazyregexp.Regexp
}{
	{noSlot, lazyregexp.New(`(?i)\b(?:types?|kinds?) of\b|checklist|screenshot|\bnotes?\b|additional|release|changelog|` +
		`\bdocs?\b|documentation|user-facing|reviewers?`)},
	{riskSlot, lazyregexp.New(`(?i)\brisks?\b|\bimpact\b|\bbreaking\b|compatib|side.effects?|drawbacks?`)},
	{testSlot, lazyregexp.New(`(?i)\btest(?:s|ed|ing)?\b|verif|validat|\bQA\b`)},
	{issueSlot, lazyregexp.New(`(?i)\bissues?\b|\btickets?\b|\bfix(?:es)?\b|\bcloses\b|\bresolves\b|\bjira\b`)},
	{changeSlot, lazyregexp.New(`(?i)descri|summary|overview|\bwhat\b|\bchang(?:es?|ed)\b|proposed|purpose`)},
	{problemSlot, lazyregexp.New(`(?i)\bwhy\b|motivation|context|background|problem|rationale|\breason`)},
}

// templateSection is a heading of a template with the lines below it, all harmless. The first one has no heading.
type templateSection struct {
	heading string
	level   int // 1 to 6; 7 for a line that begins in bold type
	slot    slot
	lines   []string
	fields  []string // the lines that are no prompt: checkboxes, tables and fenced blocks
}

// FillTemplate returns the repository's template for pull requests with our text in the sections that it fits, and the
// options for the text below, which leaves that out. The headings and their order stay. Checkboxes stay unticked and
// other sections unfilled: they are for a person. Comments are dropped. It returns "" for a template without text.
func FillTemplate(template string, task *company.Task, prOptions PROptions) (string, PROptions) {
	sections, rest := parseTemplate(template), prOptions
	rest.placed = map[slot]bool{}
	apart := slices.ContainsFunc(sections, func(s templateSection) bool { return s.slot == problemSlot })
	own := prOptions.templateTexts(task, apart)
	var b strings.Builder
	for i, section := range sections {
		body := strings.TrimSpace(strings.Join(section.lines, "\n"))
		if text := own[section.slot]; text != "" && !rest.placed[section.slot] {
			rest.placed[section.slot] = true
			body = strings.TrimSpace(text + "\n\n" + strings.Join(section.fields, "\n"))
		}
		isContainer := i+1 < len(sections) && sections[i+1].level > section.level
		if body == "" && section.heading != "" && !isContainer {
			body = "_Not filled in: for a person._"
		}
		b.WriteString(strings.TrimSpace(section.heading+"\n\n"+body) + "\n\n")
	}
	filled := strings.TrimSpace(blankRunRE.ReplaceAllString(b.String(), "\n\n"))
	if filled == "" {
		return "", prOptions
	}
	if !rest.TitleAbove {
		filled, rest.TitleAbove = rest.writeTitle(task)+"\n\n"+filled, true
	}
	rest.placed[problemSlot] = rest.placed[problemSlot] || rest.placed[changeSlot] && !apart
	if rest.placed[issueSlot] {
		rest.ClosingLines = nil
	}
	return filled + "\n", rest
}

// templateTexts returns our text for each slot. The problem stands above the change if it has no section of its own.
func (o PROptions) templateTexts(task *company.Task, apart bool) map[slot]string {
	size := openSizes[0]
	list := func(mark string, texts ...string) string {
		var lines []string
		for _, text := range texts {
			lines = append(lines, markLine(mark, text))
		}
		return strings.Join(lines, "\n")
	}
	out := map[slot]string{
		problemSlot: joinBlocks(tellProblem(task, size.asked)), riskSlot: joinBlocks(tellRisks(task)),
		testSlot:  list("- ", listChecked(task, size.names)...),
		issueSlot: strings.TrimSpace(prClosing(task, o)),
	}
	switch merged := mergedTickets(task); {
	case len(merged) == 1 && len(task.Subtasks) == 1:
		out[changeSlot] = joinBlocks(tellChange(task, merged[0], ""))
	case len(merged) > 0:
		out[changeSlot] = list("- ", tellTickets(task, merged, size)...)
	}
	if !apart && out[changeSlot] != "" {
		out[changeSlot] = strings.TrimSpace(out[problemSlot] + "\n\n" + out[changeSlot])
	}
	return out
}

var (
	blankRunRE = lazyregexp.New(`\n{3,}`)
	commentRE  = lazyregexp.New(`(?s)<!--.*?(?:-->|$)`)
	frontRE    = lazyregexp.New(`(?s)\A\s*---\n.*?\n---\n`)
	tagRE      = lazyregexp.New(`</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>`)
	headingRE  = lazyregexp.New(`^ {0,3}(#{1,6})[ \t]+(.+?)[ \t#]*$`)
	boldRE     = lazyregexp.New(`^\*\*([^*]{2,80})\*\*(:?)[ \t]*(.*)$`)
	fenceRE    = lazyregexp.New("^\\s*(```+|~~~+)[ \t]*([\\w-]*)")
	tickedRE   = lazyregexp.New(`^(\s*(?:[-*+]|\d+[.)])\s+)\[[xX]\]`)
	fieldRE    = lazyregexp.New(`^\s*(?:[-*+]|\d+[.)])\s+\[ \]|^\s*\|`)
	commandRE  = lazyregexp.New(`^\s*/[A-Za-z]`)
	quoteRE    = lazyregexp.New(`^[ \t]*(?:> ?)*`)
)

// parseTemplate returns the sections of a template.
func parseTemplate(template string) []templateSection {
	text := stripText(strings.TrimPrefix(headOf(template, maxTemplate), "\ufeff"))
	text = commentRE.ReplaceAllString(frontRE.ReplaceAllString(text, ""), "")
	sections := []templateSection{{}}
	size, fence := 0, ""
	add := func(line string, isField bool) {
		last := &sections[len(sections)-1]
		last.lines = append(last.lines, line)
		if isField {
			last.fields = append(last.fields, line)
		}
		size += len(line) + 1
	}
	begin := func(before, title, after string, level int) {
		section := templateSection{heading: before + inertLine(title) + after, level: level}
		for _, s := range slotNames {
			if s.name.MatchString(title) {
				section.slot = s.slot
				break
			}
		}
		sections = append(sections, section)
		size += len(section.heading)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if size > maxTemplateText {
			add("_The template is longer._", false)
			break
		}
		if fence != "" {
			if strings.HasPrefix(strings.TrimSpace(line), fence) && strings.Trim(line, fence[:1]+" ") == "" {
				line, fence = fence, ""
			}
			add(truncateText(strings.ReplaceAll(safetext.Strip(line), "<!", "<"+zeroWidth+"!"), maxTemplateLine), true)
			continue
		}
		line = strings.TrimRight(tagRE.ReplaceAllString(line, ""), " \t")
		mark := fenceRE.FindStringSubmatch(line)
		heading, bold := headingRE.FindStringSubmatch(line), boldRE.FindStringSubmatch(line)
		switch {
		case mark != nil:
			fence = mark[1]
			add(mark[1]+mark[2], true)
		case heading != nil:
			begin(heading[1]+" ", heading[2], "", len(heading[1]))
		case bold != nil:
			begin("**", bold[1], "**"+bold[2], 7)
			add(inertLine(bold[3]), false)
		default:
			line = inertLine(tickedRE.ReplaceAllString(line, "$1[ ]"))
			add(line, fieldRE.MatchString(line))
		}
	}
	if fence != "" {
		add(fence, true)
	}
	return sections
}

// inertLine makes a line of a template harmless. Tables and quotes stay. A command to a forge or a bot at its beginning
// has no effect.
func inertLine(line string) string {
	quote := quoteRE.FindString(line)
	rest := strings.ReplaceAll(escapeQuoted(line[len(quote):]), `\|`, "|")
	if commandRE.MatchString(rest) {
		rest = zeroWidth + rest
	}
	return truncateText(strings.ReplaceAll(quote, "\t", "    ")+rest, maxTemplateLine)
}
