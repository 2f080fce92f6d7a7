package tui

import (
	"fmt"
	"strings"

	"company/internal/present/termtext"
	"company/internal/present/view"
)

// pager shows a text that may be longer than its area.
type pager struct {
	lines  []string // each fits the width
	top    int
	follow bool // keep the end visible

	query string // searched text, in lower case, empty if there is no search
	match int    // line of the current match
}

// setLines replaces the text. The visible lines stay, or the end if follow is set.
func (p *pager) setLines(lines []string, height int) {
	p.lines = lines
	p.scrollTo(p.top, height)
	if p.follow {
		p.top = p.lastTop(height)
	}
}

func (p *pager) lastTop(height int) int { return max(0, len(p.lines)-height) }

func (p *pager) scrollTo(top, height int) { p.top = max(0, min(top, p.lastTop(height))) }

// moveBy scrolls by n lines. At the end it turns on follow, above it off.
func (p *pager) moveBy(n, height int) {
	p.scrollTo(p.top+n, height)
	p.follow = p.top == p.lastTop(height)
}

// pressKey handles a key, and reports whether it did.
func (p *pager) pressKey(key string, height int) bool {
	switch key {
	case "j", "down":
		p.moveBy(1, height)
	case "k", "up":
		p.moveBy(-1, height)
	case "pgdown", "space", "ctrl+d", "ctrl+f":
		p.moveBy(max(1, height-2), height)
	case "pgup", "ctrl+u", "ctrl+b":
		p.moveBy(-max(1, height-2), height)
	case "g", "home":
		p.moveBy(-len(p.lines), height)
	case "G", "end":
		p.moveBy(len(p.lines), height)
	case "n":
		p.searchNext(1, height)
	case "N":
		p.searchNext(-1, height)
	default:
		return false
	}
	return true
}

// searchFor jumps to the first match at or below the top of the screen.
func (p *pager) searchFor(query string, height int) {
	p.query, p.match = strings.ToLower(query), p.top-1
	p.searchNext(1, height)
}

// searchNext jumps to the next or previous match, wrapping around at the ends.
func (p *pager) searchNext(step, height int) {
	if p.query == "" {
		return
	}
	n := len(p.lines)
	for i := 1; i <= n; i++ {
		index := ((p.match+step*i)%n + n) % n
		if strings.Contains(strings.ToLower(stripColors(p.lines[index])), p.query) {
			p.match = index
			p.scrollTo(index-height/3, height)
			p.follow = false
			return
		}
	}
	p.match = -1
}

// countMatches returns the number of lines that match.
func (p *pager) countMatches() int {
	n := 0
	for _, line := range p.lines {
		if strings.Contains(strings.ToLower(stripColors(line)), p.query) {
			n++
		}
	}
	return n
}

// placeText describes the visible part.
func (p *pager) placeText(height int) string {
	text := ""
	if len(p.lines) > height {
		text = fmt.Sprintf("%d-%d of %d", p.top+1, min(len(p.lines), p.top+height), len(p.lines))
	}
	if p.query != "" {
		text = strings.TrimSpace(fmt.Sprintf("%d match /%s  %s", p.countMatches(), p.query, text))
	}
	return text
}

// drawPage returns the visible lines.
func (p *pager) drawPage(style view.Style, width, height int) []string {
	var out []string
	for i := p.top; i < len(p.lines) && len(out) < height; i++ {
		line := cutLine(p.lines[i], width)
		if p.query != "" && strings.Contains(strings.ToLower(stripColors(line)), p.query) {
			color := termtext.Cyan
			if i == p.match {
				color = reverse
			}
			if line = stripColors(line); !style.Color {
				line = cutLine("* "+line, width)
			}
			line = style.Paint(color, line)
		}
		out = append(out, line)
	}
	return fitLines(out, height)
}
