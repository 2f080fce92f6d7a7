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
	"company/internal/engine/replay"
	"company/internal/gitops"
	"company/internal/lib/secretscan"
	"company/internal/office"
	"company/internal/office/config"
)

// RecordReader reads the records of an office's tasks.
type RecordReader interface {
	// StreamRecord calls fn for each entry of a finished task's record.
	StreamRecord(ctx context.Context, id company.TaskID, fn func(replay.Entry) error) error
}

// SaveOptions holds the parameters of SaveRecord.
type SaveOptions struct {
	Task    company.TaskID
	Records RecordReader
	Paths   office.Paths // of the office, whose git store is read
	Config  config.Loaded
	Configs ConfigSource
	Env     func(string) (string, bool)
	Version string // version of the program
}

// SaveRecord writes the record of a finished task to a new file and returns its size in bytes. The
// file holds all data for a replay. It returns EConflict if the file exists. It returns EInvalid
// if the task cannot be replayed, the record is too large, or it seems to contain a secret. On an
// error it leaves no file.
func SaveRecord(ctx context.Context, saveOptions SaveOptions, path string) (size int64, err error) {
	fail := func(err error) error {
		return company.E(company.EOutput, "cannot write the record").Wrap(err).
			Fix("check that you own the folder and that the disk has space: " + filepath.Dir(path))
	}
	if _, err := os.Lstat(path); err == nil {
		return 0, existingRecordError(path)
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".company-record-")
	if err != nil {
		return 0, fail(err)
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	out := &savingWriter{f: file}
	err = writeRecord(ctx, saveOptions, out)
	if out.err != nil {
		return 0, fail(out.err)
	}
	if err != nil {
		return 0, err
	}
	if err := file.Sync(); err != nil {
		return 0, fail(err)
	}
	switch err := os.Link(file.Name(), path); {
	case errors.Is(err, fs.ErrExist):
		return 0, existingRecordError(path)
	case err != nil:
		return 0, fail(err)
	}
	return out.size, nil
}

func existingRecordError(path string) error {
	return company.E(company.EConflict, "the file exists already: "+path).Fix("remove it, or name another one")
}

// savingWriter counts the written bytes and stores the first error.
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

func writeRecord(ctx context.Context, saveOptions SaveOptions, w io.Writer) error {
	file, err := replay.NewFileWriter(w, replay.FileHeader{Task: saveOptions.Task, Program: saveOptions.Version})
	if err != nil {
		return err
	}
	secrets := secretscan.New(ownSecrets(saveOptions.Config.Config, saveOptions.Env), "record")
	record, err := replay.Read(ctx, saveOptions.Task, func(fn func(replay.Entry) error) error {
		return saveOptions.Records.StreamRecord(ctx, saveOptions.Task, func(entry replay.Entry) error {
			if err := refuseSecrets(ctx, secrets, entry); err != nil {
				return err
			}
			if err := file.AddEntry(entry); err != nil {
				return err
			}
			return fn(entry)
		})
	})
	if err != nil {
		return err
	}
	project := record.Project()
	loaded, err := saveOptions.Configs.ConfigFor(ctx, project.Path)
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
	mirror, err := gitops.LookAt(saveOptions.Paths.Git, saveOptions.Config.Config.Git.Remote, project.ID, project.Path)
	if err != nil {
		return err
	}
	if err := mirror.WritePack(ctx, record.Objects(), file); err != nil {
		return err
	}
	return file.Close()
}

// refuseSecrets returns an error if an entry contains a secret: one of the office's own, or text
// in the format of a known kind of secret. The error does not contain the secret. It also rejects
// entries that it cannot scan completely.
func refuseSecrets(ctx context.Context, scanner *secretscan.Scanner, entry replay.Entry) error {
	var texts strings.Builder
	where := "the events"
	switch {
	case entry.Event != nil:
		collectTexts(entry.Event.Data, &texts)
		where = "the event " + entry.Event.Kind
	case entry.Blob != "" && entry.Run == "":
		if !utf8.Valid(entry.Text) {
			return nil // an image
		}
		texts.Write(entry.Text)
		where = "a file of the instruction"
	case entry.Blob != "":
		texts.Write(entry.Text)
		collectTexts(entry.Text, &texts)
		where = "a long text of " + string(entry.Run)
	default:
		collectTexts(entry.Data, &texts)
		where = strings.TrimSpace("the conversation of "+string(entry.Run)) + " (" + entry.Kind + ")"
	}
	got := scanner.ScanProse(ctx, texts.String())
	refused := company.E(company.EInvalid, "the record has a secret, so no file is written")
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case len(got.Findings) > 0:
		refused = refused.Because(where + " has one: " + got.Findings[0].What)
	case got.Unseen > 0:
		refused = company.E(company.EInvalid, "the record may have a secret, so no file is written").
			Because(fmt.Sprintf("%s has %s that were not scanned: too costly", where,
				company.Count(int(got.Unseen), "byte")))
	default:
		return nil
	}
	return refused.Fix("replay the task in its office, which keeps its record: company replay <task>")
}

// collectTexts appends the strings of a JSON value, one per line. Strings that contain JSON, such
// as the arguments of a tool, are decoded, too.
func collectTexts(data []byte, into *strings.Builder) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	for {
		token, err := decoder.Token()
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

// OpenRecord reads a record file and validates it completely. pack has its git objects, and the
// caller closes it. It returns EUsage if the file does not exist, and EInvalid if it is no record
// or is damaged.
func OpenRecord(ctx context.Context, path string) (file *replay.File, pack io.ReadCloser, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, company.E(company.EUsage, "cannot open the record").Wrap(err).
			Fix("company replay <task> --save FILE writes one")
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, nil, company.E(company.EUsage, path+" is not a regular file").
			Fix("name a file written by company replay <task> --save")
	}
	kept, err := os.CreateTemp("", "company-record-")
	if err == nil {
		err = os.Remove(kept.Name()) // the kernel frees it when it is closed
	}
	if err != nil {
		return nil, nil, company.E(company.EConfig, "cannot create a folder for the record").Wrap(err).
			Fix("free space in " + os.TempDir())
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
		return nil, nil, company.E(company.EConfig, "cannot store the record").Wrap(err).Fix("free space in " + os.TempDir())
	}
	return file, kept, nil
}

// FixedConfig is a ConfigSource with one config for all projects.
type FixedConfig struct{ config.Loaded }

// ConfigFor returns the config.
func (c FixedConfig) ConfigFor(context.Context, string) (config.Loaded, error) { return c.Loaded, nil }
