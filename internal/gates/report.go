package gates

import (
	"bytes"
	"encoding/base64"
	"io"

	"company/internal/ecosystem/catalog"
	"company/internal/ecosystem/testreport"
)

// Limits for one line of a container's output and for a report file. Longer ones are not treated as reports.
const (
	maxLine   = 1 << 20
	maxReport = 32 << 20
)

// reportReader splits a check's standard output. Text for people is passed to text, and the report is collected.
type reportReader struct {
	text   io.Writer
	format testreport.Format
	lines  testreport.LineReader // nil if no reader of the format reads lines

	partial  []byte       // of an incomplete line
	long     bool         // the line is too long to parse; its rest is only passed on
	file     bytes.Buffer // the report file in base64, including line ends
	inFile   bool         // the marker was found
	tooLarge bool         // the file is too long to read
}

// reportMarker is the line before a report file in base64. The tested code may print it too. The last marker counts,
// since the gate prints its own after all other processes have ended.
const reportMarker = "company-report:"

// newReportReader returns a reader for reports of this kind.
func newReportReader(kind string, text io.Writer) *reportReader {
	r := &reportReader{text: text, format: catalog.FormatOf(kind)}
	switch {
	case r.format.Read != nil:
		r.lines = r.format.Read()
	case r.format.ReadText != nil:
		r.lines = r.format.ReadText(text)
	}
	return r
}

// isFileReport reports whether reports of this kind are files.
func isFileReport(kind string) bool { return catalog.FormatOf(kind).ReadFile != nil }

// Write processes a piece of the output. It never fails.
func (r *reportReader) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		end := i + 1
		if i < 0 {
			end = len(p)
		}
		r.addPiece(p[:end], i >= 0)
		p = p[end:]
	}
	return n, nil
}

// addPiece adds a piece of a line, and parses the line when it is complete.
func (r *reportReader) addPiece(p []byte, whole bool) {
	if r.long || len(r.partial)+len(p) > maxLine {
		_, _ = r.text.Write(append(r.partial, p...))
		r.partial, r.long = r.partial[:0], !whole
		return
	}
	r.partial = append(r.partial, p...)
	if whole {
		r.flushLine()
	}
}

func (r *reportReader) flushLine() {
	line := r.partial
	switch {
	case r.format.ReadFile != nil && string(bytes.TrimRight(line, "\r\n")) == reportMarker:
		_, _ = r.text.Write(r.file.Bytes()) // the text so far was not the report
		r.file.Reset()
		r.inFile, r.tooLarge = true, false
	case r.inFile:
		const most = maxReport/3*4 + maxReport/50 // limit in base64 with line ends
		if r.file.Len()+len(line) > most {
			r.tooLarge = true
			break
		}
		r.file.Write(line)
	case r.format.ReadText != nil:
		r.lines.ReadLine(string(line))
	default:
		_, _ = r.text.Write(line)
		if r.lines != nil {
			r.lines.ReadLine(string(bytes.TrimRight(line, "\r\n")))
		}
	}
	r.partial = r.partial[:0]
}

// collectResults returns the results from the whole output, or nil if no reader understands it.
func (r *reportReader) collectResults() *testreport.Results {
	if len(r.partial) > 0 {
		r.flushLine()
	}
	switch {
	case r.lines != nil:
		return r.lines.Finish()
	case r.format.ReadFile != nil:
		return r.readReportFile()
	}
	return nil
}

// readReportFile reads the report file.
func (r *reportReader) readReportFile() *testreport.Results {
	if r.inFile && !r.tooLarge {
		text, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(r.file.Bytes())))
		if err == nil && len(bytes.TrimSpace(text)) > 0 && len(text) <= maxReport {
			return r.format.ReadFile(text)
		}
	}
	return &testreport.Results{ParseError: "the report is missing or too large"}
}
