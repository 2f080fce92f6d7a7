package view

import (
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

// Word is a message of the president to a run.
type Word struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	Read *bool     `json:"read"` // whether the run had read it when it ended; null while it goes on
}

func viewWords(r *company.Run) []Word {
	var out []Word
	for i, w := range r.Words {
		v := Word{At: w.At.UTC(), Text: w.Text}
		if r.Ended {
			read := i < r.Heard
			v.Read = &read
		}
		out = append(out, v)
	}
	return out
}

// RenderText shows the message in a line, with what became of it.
func (w Word) RenderText() string {
	text := w.At.Local().Format("15:04:05") + "  " + safetext.EscapeLine(w.Text, 300)
	if w.Read != nil && !*w.Read {
		text += " (not read: the run had no turn left)"
	}
	return text
}

// writeWords shows the president's messages to runs.
func writeWords(b *strings.Builder, s Style, runs []Run) {
	title := "\n" + s.Heading("TOLD") + "  your messages to workers\n"
	for _, r := range runs {
		for _, w := range r.Words {
			b.WriteString(title)
			writeWrapped(b, s, fmt.Sprintf("  %-16s ", r.ID), w.RenderText())
			title = ""
		}
	}
}
