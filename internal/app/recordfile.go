package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"company/internal/company"
	"company/internal/config"
	"company/internal/gitops"
	"company/internal/leak"
	"company/internal/office"
	"company/internal/replay"
)

// RecordReader reads the records of an office's tasks.
type RecordReader interface {
	// StreamRecord passes the record of a finished task to fn, piece by piece.
	StreamRecord(ctx context.Context, id company.TaskID, fn func(replay.Entry) error) error
}

// SaveOptions are what the record of a task is saved with.
type SaveOptions struct {
	Task    company.TaskID
	Records RecordReader
	Paths   office.Paths // of the office, whose git store is read
	Config  config.Loaded
	Configs ConfigSource
	Env     func(string) (string, bool)
	Version string // of the program
}

// SaveRecord writes the record of a finished task into a new file, which is all that a
// replay needs, and gives its size in bytes. EConflict: there is a file of that name.
// EInvalid: the task cannot be replayed, its record is too large, or has what looks like a
// secret. No file is left then.
func SaveRecord(ctx context.Context, o SaveOptions, path string) (size int64, err error) {
	fail := func(err error) error {
		return company.E(company.EOutput, "the record cannot be written").Wrap(err).Fix("see that the folder is yours and has space: " + filepath.Dir(path))
	}
	if _, err := os.Lstat(path); err == nil {
		return 0, existingRecordError(path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".company-record-")
	if err != nil {
		return 0, fail(err)
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	out := &savingWriter{f: f}
	err = writeRecord(ctx, o, out)
	if out.err != nil {
		return 0, fail(out.err)
	}
	if err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, fail(err)
	}
	switch err := os.Link(f.Name(), path); {
	case errors.Is(err, fs.ErrExist):
		return 0, existingRecordError(path)
	case err != nil:
		return 0, fail(err)
	}
	return out.size, nil
}

func existingRecordError(path string) error {
	return company.E(company.EConflict, "there is a file of that name: "+path).Fix("remove it, or name another one")
}

// savingWriter counts the bytes written, and keeps the first error.
type savingWriter struct {
	f    *os.File
	size int64
	err  error
}

func (w *savingWriter) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	w.size += int64(n)
	if err != nil {
		w.err = err
	}
	return n, err
}

func writeRecord(ctx context.Context, o SaveOptions, w io.Writer) error {
	file, err := replay.NewFileWriter(w, replay.FileHeader{Task: o.Task, Program: o.Version})
	if err != nil {
		return err
	}
	secrets := leak.New(ownSecrets(o.Config.Config, o.Env), "record")
	record, err := replay.Read(ctx, o.Task, func(fn func(replay.Entry) error) error {
		return o.Records.StreamRecord(ctx, o.Task, func(e replay.Entry) error {
			if err := refuseSecrets(ctx, secrets, e); err != nil {
				return err
			}
			if err := file.AddEntry(e); err != nil {
				return err
			}
			return fn(e)
		})
	})
	if err != nil {
		return err
	}
	project := record.Project()
	loaded, err := o.Configs.ConfigFor(ctx, project.Path)
	if err != nil {
		return err
	}
	values := loaded.Config.RecordedValues()
	text, err := json.Marshal(values)
	if err == nil {
		err = refuseSecrets(ctx, secrets, replay.Entry{Kind: "settings", Data: text})
	}
	if err == nil {
		err = file.AddSettings(values)
	}
	if err != nil {
		return err
	}
	mirror, err := gitops.LookAt(o.Paths.Git, o.Config.Config.Git.Remote, project.ID, project.Path)
	if err != nil {
		return err
	}
	if err := mirror.WritePack(ctx, record.Objects(), file); err != nil {
		return err
	}
	return file.Close()
}

// refuseSecrets refuses an entry with a secret: one of the office's own, or one that has the
// mark of its kind. The finding names neither. It refuses an entry that it cannot look through, too.
func refuseSecrets(ctx context.Context, s *leak.Scanner, e replay.Entry) error {
	var texts strings.Builder
	where := "the events"
	switch {
	case e.Event != nil:
		collectTexts(e.Event.Data, &texts)
		where = "the event " + e.Event.Kind
	case e.Blob != "" && e.Run == "":
		if !utf8.Valid(e.Text) {
			return nil // an image
		}
		texts.Write(e.Text)
		where = "a file of the instruction"
	case e.Blob != "":
		texts.Write(e.Text)
		collectTexts(e.Text, &texts)
		where = "a long text of " + string(e.Run)
	default:
		collectTexts(e.Data, &texts)
		where = strings.TrimSpace("the conversation of "+string(e.Run)) + " (" + e.Kind + ")"
	}
	got := s.ScanProse(ctx, texts.String())
	refused := company.E(company.EInvalid, "the record has a secret, so no file is written")
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case len(got.Findings) > 0:
		refused = refused.Because(where + " has one: " + got.Findings[0].What)
	case got.Unseen > 0:
		refused = company.E(company.EInvalid, "the record may have a secret, so no file is written").
			Because(fmt.Sprintf("%s has %s that nothing looked through: too costly", where, company.Count(int(got.Unseen), "byte")))
	default:
		return nil
	}
	return refused.Fix("replay the task in its office, which keeps its record: company replay <task>")
}

// collectTexts adds the texts of a JSON value, one a line. A text that is JSON again, as the
// arguments of a tool are, is taken apart, too.
func collectTexts(data []byte, into *strings.Builder) {
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if err != nil {
			return
		}
		text, ok := token.(string)
		if !ok {
			continue
		}
		into.WriteString(text)
		into.WriteByte('\n')
		if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
			collectTexts([]byte(text), into)
		}
	}
}

// OpenRecord reads a record file, and checks it whole before anything is done with it. pack
// has its git objects; the caller closes it. EUsage: there is no such file. EInvalid: it is
// no record, or a damaged one.
func OpenRecord(ctx context.Context, path string) (file *replay.File, pack io.ReadCloser, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, company.E(company.EUsage, "the record cannot be opened").Wrap(err).Fix("company replay <task> --save FILE writes one")
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, nil, company.E(company.EUsage, path+" is no plain file").Fix("name a file that company replay <task> --save has written")
	}
	kept, err := os.CreateTemp("", "company-record-")
	if err == nil {
		err = os.Remove(kept.Name()) // the kernel frees it with the process
	}
	if err != nil {
		return nil, nil, company.E(company.EConfig, "there is no room for a record").Wrap(err).Fix("make room in " + os.TempDir())
	}
	defer func() {
		if err != nil {
			_ = kept.Close()
		}
	}()
	if file, err = replay.ReadFile(ctx, f, kept); err != nil {
		return nil, nil, err
	}
	if _, err := kept.Seek(0, io.SeekStart); err != nil {
		return nil, nil, company.E(company.EConfig, "the record cannot be kept").Wrap(err).Fix("make room in " + os.TempDir())
	}
	return file, kept, nil
}

// FixedConfig is one config for all projects.
type FixedConfig struct{ config.Loaded }

// ConfigFor gives the config.
func (c FixedConfig) ConfigFor(context.Context, string) (config.Loaded, error) { return c.Loaded, nil }
