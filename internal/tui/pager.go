package tui

import (
	"fmt"
	"strings"

	"company/internal/screen"
	"company/internal/view"
)

// pager is a text that is longer than its place on the screen.
type pager struct {
	lines  []string // each fits
	top    int
	follow bool // the end stays in sight

	query string // that is searched for, in small letters; empty: nothing
	match int    // line of the match that was jumped to
}

// setLines takes the text anew. The lines in sight stay, or the end where it is followed.
func (p *pager) setLines(lines []string, height int) {
	p.lines = lines
	p.scrollTo(p.top, height)
	if p.follow {
		p.top = p.lastTop(height)
	}
}

func (p *pager) lastTop(height int) int { return max(0, len(p.lines)-height) }

func (p *pager) scrollTo(top, height int) { p.top = max(0, min(top, p.lastTop(height))) }

// moveBy scrolls. At the end the text is followed again, above it no more.
func (p *pager) moveBy(n, height int) {
	p.scrollTo(p.top+n, height)
	p.follow = p.top == p.lastTop(height)
}

// pressKey does what a key does in a text, and says whether it does anything.
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

// searchFor jumps to the first match from the top of the screen on.
func (p *pager) searchFor(query string, height int) {
	p.query, p.match = strings.ToLower(query), p.top-1
	p.searchNext(1, height)
}

// searchNext jumps to the next match, or the one before, around the ends of the text.
func (p *pager) searchNext(step, height int) {
	if p.query == "" {
		return
	}
	n := len(p.lines)
	for i := 1; i <= n; i++ {
		at := ((p.match+step*i)%n + n) % n
		if strings.Contains(strings.ToLower(stripColors(p.lines[at])), p.query) {
			p.match = at
			p.scrollTo(at-height/3, height)
			p.follow = false
			return
		}
	}
	p.match = -1
}

// countMatches is how many lines match.
func (p *pager) countMatches() int {
	n := 0
	for _, line := range p.lines {
		if strings.Contains(strings.ToLower(stripColors(line)), p.query) {
			n++
		}
	}
	return n
}

// placeText says which part is in sight.
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

// drawPage is the part that is in sight.
func (p *pager) drawPage(s view.Style, width, height int) []string {
	var out []string
	for i := p.top; i < len(p.lines) && len(out) < height; i++ {
		line := cutLine(p.lines[i], width)
		if p.query != "" && strings.Contains(strings.ToLower(stripColors(line)), p.query) {
			color := screen.Cyan
			if i == p.match {
				color = reverse
			}
			if line = stripColors(line); !s.Color {
				line = cutLine("* "+line, width)
			}
			line = s.Paint(color, line)
		}
		out = append(out, line)
	}
	return fitLines(out, height)
}
