package view

import (
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Word is a message of the president to a run.
type Word struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	Read *bool     `json:"read"` // whether the run had read it by its end; null until then
}

func viewWords(run *company.Run) []Word {
	var out []Word
	for i, w := range run.Words {
		word := Word{At: w.At.UTC(), Text: w.Text}
		if run.Ended {
			read := i < run.Heard
			word.Read = &read
		}
		out = append(out, word)
	}
	return out
}

// RenderText renders the message in one line, with a note if it was not read.
func (w Word) RenderText() string {
	text := w.At.Local().Format("15:04:05") + "  " + safetext.EscapeLine(w.Text, 300)
	if w.Read != nil && !*w.Read {
		text += " (not read: the run had no turn left)"
	}
	return text
}

// writeWords lists the president's messages to runs.
func writeWords(b *strings.Builder, style Style, runs []Run) {
	title := "\n" + style.Heading("TOLD") + "  your messages to workers\n"
	for _, run := range runs {
		for _, word := range run.Words {
			b.WriteString(title)
			writeWrapped(b, style, fmt.Sprintf("  %-16s ", run.ID), word.RenderText())
			title = ""
		}
	}
}
