package replay

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"company/internal/company"
)

// A record file is a plain text line with the number of its format, followed by a gzip stream of JSON lines: the
// header, the entries of the record, the settings, the git objects in pieces, and the checksum of all these lines.
const (
	fileMagic   = "company record "
	fileFormat  = 1
	packPiece   = 1 << 20
	maxFileLine = 48 << 20 // an entry has at most 32 MiB
)

// MaxFile limits the decompressed size of a record file in bytes. maxEntries limits the part that is entries, which a
// replay holds in memory.
const (
	MaxFile    = 1 << 30
	maxEntries = 256 << 20
)

// FileHeader is the first line of a record file.
type FileHeader struct {
	Task    company.TaskID `json:"task"`
	Program string         `json:"program"` // the version that wrote the file
}

// File is a record file that was read.
type File struct {
	FileHeader
	Record *Record
	// Settings holds the config keys that affect the result, each as written in company.yaml.
	Settings map[string]string
}

// fileLine is a line of a record file. Exactly one field is set.
type fileLine struct {
	Header   *FileHeader       `json:"header,omitempty"`
	Entry    *Entry            `json:"entry,omitempty"`
	Settings map[string]string `json:"settings,omitempty"`
	Pack     []byte            `json:"pack,omitempty"`
	SHA256   string            `json:"sha256,omitempty"` // of the preceding lines
}

// FileWriter writes a record file. After all entries, it is an io.Writer for the git objects.
type FileWriter struct {
	zip  *gzip.Writer
	sum  hash.Hash
	size int
	pack []byte // of an incomplete piece
}

// NewFileWriter starts a record file. This and later calls fail with EInvalid if the record is larger than MaxFile.
func NewFileWriter(w io.Writer, fileHeader FileHeader) (*FileWriter, error) {
	if _, err := fmt.Fprintf(w, "%s%d\n", fileMagic, fileFormat); err != nil {
		return nil, err
	}
	f := &FileWriter{zip: gzip.NewWriter(w), sum: sha256.New()}
	return f, f.writeLine(fileLine{Header: &fileHeader})
}

// AddSettings writes the settings, after the entries.
func (f *FileWriter) AddSettings(values map[string]string) error {
	return f.writeLine(fileLine{Settings: values})
}

// AddEntry writes an entry. Entries must come in the order of StreamRecord.
func (f *FileWriter) AddEntry(e Entry) error {
	err := f.writeLine(fileLine{Entry: &e})
	if err == nil && f.size > maxEntries {
		err = largeRecordError()
	}
	return err
}

// Write appends data of the pack with the record's git objects.
func (f *FileWriter) Write(p []byte) (int, error) {
	f.pack = append(f.pack, p...)
	for len(f.pack) >= packPiece {
		if err := f.writeLine(fileLine{Pack: f.pack[:packPiece]}); err != nil {
			return 0, err
		}
		f.pack = append(f.pack[:0], f.pack[packPiece:]...)
	}
	return len(p), nil
}

// Close ends the file with its checksum. It does not close the underlying writer.
func (f *FileWriter) Close() error {
	if len(f.pack) > 0 {
		if err := f.writeLine(fileLine{Pack: f.pack}); err != nil {
			return err
		}
	}
	err := f.writeLine(fileLine{SHA256: hex.EncodeToString(f.sum.Sum(nil))})
	return errors.Join(err, f.zip.Close())
}

func (f *FileWriter) writeLine(l fileLine) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	f.size += len(text)
	if len(text) > maxFileLine || f.size > MaxFile {
		return largeRecordError()
	}
	f.sum.Write(text)
	_, err = f.zip.Write(text)
	return err
}

func largeRecordError() error {
	return company.E(company.EInvalid, "the record is too large for a file").
		Because(fmt.Sprintf("it has more than %d MiB of events and conversations, or more than %d MiB with the history of "+
			"the repository", maxEntries>>20, MaxFile>>20)).
		Fix("replay it in its office: company replay <task>")
}

// ReadFile reads a whole record file and writes its git objects to pack. It fails with EInvalid and the reason if the
// file is not a record, is truncated, damaged or larger than MaxFile, or was written by a newer version. It also does
// so if the task cannot be replayed. Data that was read before an error must not be used.
func ReadFile(ctx context.Context, r io.Reader, pack io.Writer) (*File, error) {
	fileReader, err := openFile(r)
	if err != nil {
		return nil, err
	}
	first, err := fileReader.readLine()
	if err != nil {
		return nil, err
	}
	if first.Header == nil || !first.Header.Task.Valid() {
		return nil, damagedError("it has no header")
	}
	out := &File{FileHeader: *first.Header}
	var kept error // from pack: the disk is full
	out.Record, err = Read(ctx, out.Task, func(fn func(Entry) error) error {
		for {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			fileLine, err := fileReader.readLine()
			switch {
			case err != nil:
				return err
			case fileLine.Entry != nil && !fileReader.packing:
				if err := fn(*fileLine.Entry); err != nil {
					return err
				}
			case fileLine.Settings != nil && !fileReader.packing:
				out.Settings, fileReader.packing = fileLine.Settings, true
			case len(fileLine.Pack) > 0 && fileReader.packing:
				if _, kept = pack.Write(fileLine.Pack); kept != nil {
					return kept
				}
			case fileLine.SHA256 != "":
				return fileReader.checkEnd(fileLine.SHA256)
			default:
				return damagedError("it has a line in the wrong place")
			}
		}
	})
	switch {
	case err == nil && !out.Record.base.OID.Valid():
		err = damagedError("its base is not a commit")
	case err == nil:
		// The file does not decide which checkout of this machine it belongs to. So the record gets neither a checkout's
		// logins nor its image layers.
		out.Record.submitted.Project = company.Project{ID: "record-" + string(out.Record.base.OID)[:16]}
		return out, nil
	case kept == nil && ctx.Err() == nil && company.CodeOf(err) != company.EInvalid:
		err = damagedError("an entry is unreadable").Wrap(err)
	}
	return nil, err
}

// fileReader reads the lines of a record file.
type fileReader struct {
	plain   *bufio.Reader
	lines   *bufio.Reader
	sum     hash.Hash
	before  []byte // the checksum of all lines except the newest
	size    int
	packing bool // the entries have ended and git objects follow
}

func openFile(r io.Reader) (*fileReader, error) {
	plain := bufio.NewReader(r)
	first, err := plain.Peek(len(fileMagic) + 8)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, unreadableError(err)
	}
	number, ok := strings.CutPrefix(string(first), fileMagic)
	number, _, ended := strings.Cut(number, "\n")
	format, err := strconv.Atoi(number)
	switch {
	case !ok:
		return nil, company.E(company.EInvalid, "the file is not a record of a task").
			Fix("company replay <task> --save FILE writes one")
	case !ended || err != nil || format < 1:
		return nil, damagedError("its first line is incomplete")
	case format > fileFormat:
		return nil, company.E(company.EInvalid, "the record was written by a newer version of company").
			Because(fmt.Sprintf("it has the format %d, but this program reads %d", format, fileFormat)).
			Fix("replay it with that version")
	}
	if _, err := plain.Discard(len(fileMagic) + len(number) + 1); err != nil {
		return nil, unreadableError(err)
	}
	zip, err := gzip.NewReader(plain)
	if err != nil {
		return nil, endOf(err)
	}
	zip.Multistream(false)
	return &fileReader{plain: plain, lines: bufio.NewReaderSize(zip, 64<<10), sum: sha256.New()}, nil
}

// readLine returns the next line.
func (f *fileReader) readLine() (l fileLine, err error) {
	var text []byte
	for {
		part, err := f.lines.ReadSlice('\n')
		text = append(text, part...)
		if f.size += len(part); f.size > MaxFile || len(text) > maxFileLine || !f.packing && f.size > maxEntries+maxFileLine {
			return l, company.E(company.EInvalid, "the record is too large").
				Because(fmt.Sprintf("it decompresses to more than %d MiB", MaxFile>>20)).Fix("save a new one")
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return l, endOf(err)
		}
		break
	}
	f.before = f.sum.Sum(nil)
	f.sum.Write(text)
	if err := json.Unmarshal(text, &l); err != nil {
		return l, damagedError("a line is not JSON")
	}
	return l, nil
}

// checkEnd compares the checksum and refuses data after the end.
func (f *fileReader) checkEnd(sum string) error {
	if want, err := hex.DecodeString(sum); err != nil || !bytes.Equal(want, f.before) {
		return damagedError("its checksum does not match")
	}
	for _, rest := range []*bufio.Reader{f.lines, f.plain} { // gzip compares its own checksum at its end
		switch _, err := rest.ReadByte(); {
		case err == nil:
			return damagedError("data follows its end")
		case !errors.Is(err, io.EOF):
			return endOf(err)
		}
	}
	return nil
}

// endOf distinguishes a truncated file from a damaged one and from a disk error.
func endOf(err error) error {
	var damaged interface{ Timeout() bool }
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return company.E(company.EInvalid, "the record is cut off").Because("its end with the checksum is missing").
			Fix("copy it again, or save it again: company replay <task> --save FILE")
	case errors.As(err, &damaged):
		return unreadableError(err)
	}
	return damagedError(err.Error())
}

func damagedError(reason string) *company.Error {
	return company.E(company.EInvalid, "the record is damaged").Because(reason).
		Fix("copy it again, or save it again: company replay <task> --save FILE")
}

func unreadableError(err error) error {
	return company.E(company.EInvalid, "cannot read the record").Wrap(err).Fix("check the file and its permissions")
}

// Objects returns the git objects that a replay needs: the base, and the commits and trees that runs and merges made.
// Some may have been removed since.
func (r *Record) Objects() []company.OID {
	seen, out := map[company.OID]bool{}, []company.OID{}
	add := func(id company.OID) {
		if id != "" && !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	add(r.base.OID)
	for _, step := range r.steps {
		switch d := step.data.(type) {
		case *company.RunEnded:
			add(d.Head)
		case *company.MergeRecorded:
			add(d.Commit)
		}
		for _, judged := range listRemade(step.data) {
			if len(judged.files) > 0 {
				add(judged.tree)
			}
		}
	}
	return out
}
