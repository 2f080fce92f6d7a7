package gates

import (
	"bytes"
	"encoding/base64"
	"io"

	"company/internal/ecosystem/catalog"
	"company/internal/testreport"
)

// Bounds of what a container may print in one line, and of a report file. What is
// longer is no report.
const (
	maxLine   = 1 << 20
	maxReport = 32 << 20
)

// reportReader takes the standard output of a check apart: what people read goes on
// to text, and the report is collected.
type reportReader struct {
	text   io.Writer
	format testreport.Format
	lines  testreport.LineReader // nil: no reader of the format reads lines

	partial  []byte       // of a line that is not whole
	long     bool         // the line is longer than can be read; its rest is only text
	file     bytes.Buffer // the report file in base64, lines and all
	inFile   bool         // the marker was there
	tooLarge bool         // the file is longer than can be read
}

// reportMarker is the line behind which a report file comes, in base64. The
// tested code may print it too: the last one counts, since the gate prints its
// own when nothing else runs any more.
const reportMarker = "company-report:"

// newReportReader reads a report of this kind.
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

// isFileReport says whether the report of this kind is a file.
func isFileReport(kind string) bool { return catalog.FormatOf(kind).ReadFile != nil }

// Write takes a piece of the output; it never fails, like output's.
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

// addPiece adds a piece of a line, and reads the line when it is whole.
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
		_, _ = r.text.Write(r.file.Bytes()) // it was none
		r.file.Reset()
		r.inFile, r.tooLarge = true, false
	case r.inFile:
		const most = maxReport/3*4 + maxReport/50 // in base64, with its line ends
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

// collectResults returns the results in the whole output, or nil where no
// reader understands it.
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
	return &testreport.Results{ParseError: "there is no report, or one that is too large"}
}
