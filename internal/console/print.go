package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"company/internal/company"
	"company/internal/feed"
	"company/internal/safetext"
	"company/internal/screen"
)

// PrintJSON prints a value for programs, on a line. A result, which goes to stdout, has
// the shape that was asked for.
func (con *Console) PrintJSON(w io.Writer, v any) error {
	if con.Shape != nil && w == con.Out {
		return con.Shape.Print(con.Lifetime, w, IsTerminal(w), v)
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(safetext.EscapeJSON(text.Bytes())) // a terminal may show it
	return err
}

// PrintNote says something about the progress, on stderr: a line for people, an
// item of the feed for programs.
func (con *Console) PrintNote(format string, args ...any) {
	text := safetext.Escape(fmt.Sprintf(format, args...))
	switch {
	case con.Quiet:
	case con.Output == "json":
		_ = con.PrintJSON(con.Err, feed.Item{SchemaVersion: 1, Time: time.Now().UTC(), Kind: "note", Mark: feed.Info, Text: text})
	default:
		fmt.Fprintln(con.Err, screen.WrapHelp(text, con.Style(con.Err)))
	}
}

// PrintNotes prints each line as a note.
func (con *Console) PrintNotes(lines []string) {
	for _, line := range lines {
		con.PrintNote("%s", line)
	}
}

// PrintPatch prints a patch: on a terminal how much changed first. To a file or another
// program it goes unchanged: it must apply. An error is that of the stream.
func (con *Console) PrintPatch(w io.Writer, patch []byte) error {
	if !IsTerminal(w) {
		_, err := w.Write(patch)
		return err
	}
	text := screen.RenderPatch(safetext.Escape(string(patch)), con.Style(w))
	if w == con.Out {
		return con.PrintLong(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// ShowError prints an error as people and programs read it, on stderr. What it says may
// come from a repository or a model: nothing in it steers the terminal.
func (con *Console) ShowError(err error) {
	var e *company.Error
	if !errors.As(err, &e) {
		e = company.E(company.EInternal, err.Error())
	}
	if e.Why == "" && e.Err != nil {
		e = e.Because(e.Err.Error())
	}
	if con.Output == "json" {
		classed := *e
		classed.Class = company.ClassOf(e)
		told := struct {
			*company.Error
			Fix string `json:"fix,omitempty"` // the name in text output and in doctor; hint is its older name
		}{&classed, e.Hint}
		_ = con.PrintJSON(con.Err, map[string]any{"schema_version": 1, "error": told}) // stderr was closed on purpose
		return
	}
	fmt.Fprintf(con.Err, "error[%s]: %s\n", e.Code, safetext.Escape(e.Message))
	if e.Why != "" {
		fmt.Fprintf(con.Err, "  why:  %s\n", safetext.Escape(e.Why))
	}
	if e.Hint != "" {
		fmt.Fprintf(con.Err, "  fix:  %s\n", safetext.Escape(e.Hint))
	}
	if con.Verbose && e.Details != "" {
		fmt.Fprintf(con.Err, "%s\n", safetext.Escape(e.Details))
	}
}

// PrintResult prints a result in the form that the user asks for: JSON, or its text.
func (con *Console) PrintResult(v interface{ RenderText() string }) error {
	if con.Output == "json" {
		return con.PrintJSON(con.Out, v)
	}
	_, err := io.WriteString(con.Out, v.RenderText())
	return err
}
