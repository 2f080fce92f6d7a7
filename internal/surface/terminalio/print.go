package terminalio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/feed"
	"company/internal/present/termtext"
)

// PrintJSON prints a value as one line of JSON.
func (con *Console) PrintJSON(w io.Writer, v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(safetext.EscapeJSON(text.Bytes())) // a terminal may show it
	return err
}

// PrintNote prints a progress message on stderr: a line for people, or a feed item for programs.
func (con *Console) PrintNote(format string, args ...any) {
	text := safetext.Escape(fmt.Sprintf(format, args...))
	switch {
	case con.Quiet:
	case con.Output == "json":
		_ = con.PrintJSON(
			con.Err, feed.Item{SchemaVersion: 1, Time: time.Now().UTC(), Kind: "note", Mark: feed.Info, Text: text})
	default:
		fmt.Fprintln(con.Err, termtext.WrapHelp(text, con.Style(con.Err)))
	}
}

// PrintNotes prints each line as a note.
func (con *Console) PrintNotes(lines []string) {
	for _, line := range lines {
		con.PrintNote("%s", line)
	}
}

// PrintPatch prints a patch. On a terminal it starts with a summary. Files and programs get the
// unchanged patch, so that it applies. It returns the stream's errors.
func (con *Console) PrintPatch(w io.Writer, patch []byte) error {
	if !IsTerminal(w) {
		_, err := w.Write(patch)
		return err
	}
	text := termtext.RenderPatch(safetext.Escape(string(patch)), con.Style(w))
	if w == con.Out {
		return con.PrintLong(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// ShowError prints an error on stderr, as text or JSON. Its text may come from a repository or a
// model, so it is escaped.
func (con *Console) ShowError(err error) {
	var fault *company.Error
	if !errors.As(err, &fault) {
		fault = company.E(company.EInternal, err.Error())
	}
	if fault.Why == "" && fault.Err != nil {
		fault = fault.Because(fault.Err.Error())
	}
	if con.Output == "json" {
		told := struct {
			*company.Error
			Fix string `json:"fix,omitempty"` // same name as in text output and doctor; hint is the older name
		}{fault.ForDisplay(), fault.Hint}
		_ = con.PrintJSON(con.Err, map[string]any{"schema_version": 1, "error": told}) // stderr was closed on purpose
		return
	}
	fmt.Fprintf(con.Err, "error[%s]: %s\n", fault.Code, safetext.Escape(fault.Message))
	if fault.Why != "" {
		fmt.Fprintf(con.Err, "  why:  %s\n", safetext.Escape(fault.Why))
	}
	if fault.Hint != "" {
		fmt.Fprintf(con.Err, "  fix:  %s\n", safetext.Escape(fault.Hint))
	}
	if con.Verbose && fault.Details != "" {
		fmt.Fprintf(con.Err, "%s\n", safetext.Escape(fault.Details))
	}
}

// PrintResult prints a result as JSON or text, as the user requested.
func (con *Console) PrintResult(v interface{ RenderText() string }) error {
	if con.Output == "json" {
		return con.PrintJSON(con.Out, v)
	}
	_, err := io.WriteString(con.Out, v.RenderText())
	return err
}
