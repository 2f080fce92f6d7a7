package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
)

// editorMark begins what an editor shows below the instruction.
const editorMark = "<!-- company: the instruction is what stands above this line. Leave it empty to submit nothing. -->"

// FindEditor is the person's editor, as git and others find it; "": none is set.
func (con *Console) FindEditor() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if v, ok := con.LookupEnv(name); ok && strings.TrimSpace(v) != "" {
			return v
		}
	}
	return ""
}

// EditInstruction has the person write an instruction in their editor. The file stays,
// and the person reads its name. An empty text, and an editor that fails, are EUsage.
func (con *Console) EditInstruction(ctx context.Context, editor string) (string, error) {
	f, err := os.CreateTemp("", "company-*.md")
	if err != nil {
		return "", company.E(company.EInvalid, "there is no place for the instruction").Wrap(err).Fix("company submit -f FILE")
	}
	name := f.Name()
	_, err = f.WriteString("\n\n" + editorMark + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return "", company.E(company.EInvalid, "there is no place for the instruction").Wrap(err).Fix("company submit -f FILE")
	}
	if err := con.runEditor(ctx, editor, name, "company submit -f "); err != nil {
		return "", err
	}
	text, err := readInstruction(name)
	if err != nil {
		return "", err
	}
	before, _, _ := strings.Cut(text, editorMark)
	if before = strings.TrimSpace(before); before == "" {
		_ = os.Remove(name) // nothing is in it
		return "", company.E(company.EUsage, "the instruction is empty, so nothing is submitted").Fix("write what is to be done, and save it")
	}
	con.PrintNote("your instruction is kept in %s", name)
	return before, nil
}

// EditText gives the person's editor on a temporary file with a text, for a program that has
// the terminal itself. read takes the error with which the editor ended, gives the text,
// and removes the file. Where no editor is set that is EUsage.
func (con *Console) EditText(text string) (editor *exec.Cmd, read func(error) (string, error), err error) {
	program := con.FindEditor()
	if program == "" {
		return nil, nil, company.E(company.EUsage, "no editor is set").Fix("set VISUAL or EDITOR")
	}
	f, err := os.CreateTemp("", "company-*.md")
	if err != nil {
		return nil, nil, company.E(company.EInvalid, "there is no place for the text").Wrap(err)
	}
	name := f.Name()
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(name)
		return nil, nil, company.E(company.EInvalid, "there is no place for the text").Wrap(err)
	}
	editor = exec.Command("/bin/sh", "-c", program+` "$1"`, "sh", name)
	editor.Env = con.Environ
	return editor, func(err error) (string, error) {
		if err != nil {
			return "", company.E(company.EUsage, "the editor did not end well: "+safetext.EscapeLine(program, 80)).Wrap(err).Fix("what you wrote is in " + name)
		}
		written, err := readInstruction(name)
		if err != nil {
			return "", err
		}
		_ = os.Remove(name) // the caller has the text
		return strings.TrimSpace(written), nil
	}, nil
}

// readInstruction reads what a person wrote in an editor, within the bound of an instruction.
func readInstruction(name string) (string, error) {
	text, err := readBounded(name, company.MaxInstruction+int64(len(editorMark))+2)
	if err != nil {
		return "", company.E(company.EInvalid, "the instruction cannot be read").Wrap(err)
	}
	return string(text), nil
}

// runEditor has the person edit a file. again is the command that takes the file instead, up to
// its name.
func (con *Console) runEditor(ctx context.Context, editor, name, again string) error {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", editor+` "$1"`, "sh", name)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = con.In, FileOf(con.Err), FileOf(con.Err)
	err := cmd.Run()
	if err == nil {
		return nil
	}
	e := company.E(company.EUsage, "the editor did not end well: "+safetext.EscapeLine(editor, 80)).Wrap(err)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 127 { // the shell found no such program
		return e.Fix("set VISUAL or EDITOR to an editor that is there, or: " + again + "FILE")
	}
	return e.Fix("what you wrote is in " + name + ": " + again + name)
}

// readBounded reads the first bytes of a file.
func readBounded(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// EditedFile is a text that a person has edited, and the file that it is kept in.
type EditedFile struct {
	Text string
	File string // empty: it was read from stdin
}

// EditFile has the person change a text: in the named file, from stdin ("-"), or in their editor
// where no file is named. again is the command that takes the file instead, up to its name. A text
// of more than most bytes is EInvalid. The file of an editor stays.
func (con *Console) EditFile(ctx context.Context, file, text, again string, most int64) (EditedFile, error) {
	edited := EditedFile{File: file}
	var err error
	var read []byte
	switch file {
	case "-":
		edited.File = ""
		read, err = io.ReadAll(io.LimitReader(con.In, most+1))
	case "":
		if edited.File, err = con.editInNewFile(ctx, text, again); err != nil {
			return edited, err
		}
		read, err = readBounded(edited.File, most+1)
	default:
		read, err = readBounded(file, most+1)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return edited, company.E(company.ENotFound, "the file cannot be read").Wrap(err).Fix("name a file that exists")
	case err != nil:
		return edited, company.E(company.EInvalid, "the file cannot be read").Wrap(err).Fix("see that it is yours and no folder")
	case int64(len(read)) > most:
		return edited, company.E(company.EInvalid, fmt.Sprintf("the file has more than %d KiB", most>>10)).Fix("shorten its text")
	}
	edited.Text = string(read)
	return edited, nil
}

// editInNewFile has the person edit a text in their editor, and returns the name of its file.
func (con *Console) editInNewFile(ctx context.Context, text, again string) (string, error) {
	editor := con.FindEditor()
	if editor == "" || !con.CanPrompt() {
		return "", company.E(company.EUsage, "there is no editor to open").Because("VISUAL and EDITOR are not set, or this is no terminal").Fix(again + "FILE")
	}
	f, err := os.CreateTemp("", "company-*.yaml")
	if err != nil {
		return "", company.E(company.EInvalid, "there is no place for the file").Wrap(err).Fix(again + "FILE")
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", company.E(company.EInvalid, "there is no place for the file").Wrap(err).Fix(again + "FILE")
	}
	return f.Name(), con.runEditor(ctx, editor, f.Name(), again)
}
