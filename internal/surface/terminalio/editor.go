package terminalio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"company/internal/company"
	"company/internal/lib/charset"
	"company/internal/lib/safetext"
)

// editorMark is the line that an editor shows below the instruction.
const editorMark = "<!-- company: write the instruction above this line. Leave it empty to submit nothing. -->"

// FindEditor returns the user's editor from VISUAL or EDITOR, or "" if neither is set.
func (con *Console) FindEditor() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if v, ok := con.LookupEnv(name); ok && strings.TrimSpace(v) != "" {
			return v
		}
	}
	return ""
}

// EditInstruction opens an editor for an instruction and returns the text. The file is kept, and
// its name is printed. An empty text or a failed editor returns EUsage.
func (con *Console) EditInstruction(ctx context.Context, editor string) (string, error) {
	file, err := os.CreateTemp("", "company-*.md")
	if err != nil {
		return "", company.E(company.EInvalid, "there is no place for the instruction").Wrap(err).
			Fix("company submit -f FILE")
	}
	name := file.Name()
	_, err = file.WriteString("\n\n" + editorMark + "\n")
	if err := errors.Join(err, file.Close()); err != nil {
		return "", company.E(company.EInvalid, "there is no place for the instruction").Wrap(err).
			Fix("company submit -f FILE")
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
		_ = os.Remove(name) // the file has no instruction
		return "", company.E(company.EUsage, "empty instruction: nothing was submitted").
			Fix("write what to do, and save the file")
	}
	con.PrintNote("your instruction is saved in %s", name)
	return before, nil
}

// EditText writes text to a temporary file and returns the editor command for it. The caller runs
// the command on the terminal. read takes the editor's error, returns the edited text, and removes
// the file. Without an editor it returns EUsage.
func (con *Console) EditText(text string) (editor *exec.Cmd, read func(error) (string, error), err error) {
	program := con.FindEditor()
	if program == "" {
		return nil, nil, company.E(company.EUsage, "no editor is set").Fix("set VISUAL or EDITOR")
	}
	file, err := os.CreateTemp("", "company-*.md")
	if err != nil {
		return nil, nil, company.E(company.EInvalid, "there is no place for the text").Wrap(err)
	}
	name := file.Name()
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(name)
		return nil, nil, company.E(company.EInvalid, "there is no place for the text").Wrap(err)
	}
	editor = exec.Command("/bin/sh", "-c", program+` "$1"`, "sh", name)
	editor.Env = con.Environ
	return editor, func(err error) (string, error) {
		if err != nil {
			return "", company.E(company.EUsage, "the editor failed: "+safetext.EscapeLine(program, 80)).Wrap(err).
				Fix("your text is in " + name)
		}
		written, err := readInstruction(name)
		if err != nil {
			return "", err
		}
		_ = os.Remove(name) // the caller has the text
		return strings.TrimSpace(written), nil
	}, nil
}

// readInstruction reads an edited text, up to the size limit of an instruction.
func readInstruction(name string) (string, error) {
	text, err := readBounded(name, company.MaxInstruction+int64(len(editorMark))+2)
	if err != nil {
		return "", company.E(company.EInvalid, "the instruction cannot be read").Wrap(err)
	}
	return charset.DecodeUnicode(text), nil
}

// runEditor runs the editor on a file. again is the alternative command, without the file name.
func (con *Console) runEditor(ctx context.Context, editor, name, again string) error {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", editor+` "$1"`, "sh", name)
	cmd.Stdin = con.In
	cmd.Stdout = FileOf(con.Err)
	cmd.Stderr = FileOf(con.Err)
	err := cmd.Run()
	if err == nil {
		return nil
	}
	fault := company.E(company.EUsage, "the editor failed: "+safetext.EscapeLine(editor, 80)).Wrap(err)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 127 { // the shell found no such program
		return fault.Fix("set VISUAL or EDITOR to an installed editor, or: " + again + "FILE")
	}
	return fault.Fix("your text is in " + name + ": " + again + name)
}

// readBounded reads at most limit bytes of a file.
func readBounded(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, limit))
}

// EditedFile is a text that a person has edited, and the file that holds it.
type EditedFile struct {
	Text string
	File string // empty if the text came from stdin
}

// EditFile returns an edited text: from the named file, from stdin ("-"), or from the user's
// editor if file is empty. again is the alternative command, without the file name. A text of more
// than limit bytes returns EInvalid. The editor's file is kept.
func (con *Console) EditFile(ctx context.Context, file, text, again string, limit int64) (EditedFile, error) {
	edited := EditedFile{File: file}
	var err error
	var read []byte
	switch file {
	case "-":
		edited.File = ""
		read, err = io.ReadAll(io.LimitReader(con.In, limit+1))
	case "":
		if edited.File, err = con.editInNewFile(ctx, text, again); err != nil {
			return edited, err
		}
		read, err = readBounded(edited.File, limit+1)
	default:
		read, err = readBounded(file, limit+1)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return edited, company.E(company.ENotFound, "the file cannot be read").Wrap(err).Fix("name a file that exists")
	case err != nil:
		return edited, company.E(company.EInvalid, "the file cannot be read").Wrap(err).
			Fix("check that it is a regular file and readable")
	case int64(len(read)) > limit:
		return edited, company.E(company.EInvalid, fmt.Sprintf("the file is larger than %d KiB", limit>>10)).
			Fix("shorten it")
	}
	edited.Text = charset.DecodeUnicode(read)
	return edited, nil
}

// editInNewFile opens a text in the user's editor and returns the name of the new file.
func (con *Console) editInNewFile(ctx context.Context, text, again string) (string, error) {
	editor := con.FindEditor()
	if editor == "" || !con.CanPrompt() {
		return "", company.E(company.EUsage, "no editor to open").
			Because("VISUAL and EDITOR are not set, or this is not a terminal").Fix(again + "FILE")
	}
	file, err := os.CreateTemp("", "company-*.yaml")
	if err != nil {
		return "", company.E(company.EInvalid, "there is no place for the file").Wrap(err).Fix(again + "FILE")
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", company.E(company.EInvalid, "there is no place for the file").Wrap(err).Fix(again + "FILE")
	}
	return file.Name(), con.runEditor(ctx, editor, file.Name(), again)
}
