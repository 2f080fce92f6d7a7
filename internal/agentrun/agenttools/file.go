package agenttools

import (
	"context"
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/toolbox/toolproto"
)

// ReadFileName is the name of the tool that reads files.
const ReadFileName = "read_file"

// readFile returns the tool that reads files. numbered shows line numbers, for readers that refer to lines.
// Editors get plain lines.
func (f *toolFactory) readFile(numbered bool) agent.Tool {
	description := `Read a text file, or limit lines from line offset on.`
	if numbered {
		description += ` The numbers before lines are not part of the file.`
	}
	return newTool(f, ReadFileName, description,
		`{"type":"object","properties":{
"path":{"type":"string","minLength":1},
"offset":{"type":"integer","minimum":1},
"limit":{"type":"integer","minimum":1}},
"required":["path"],"additionalProperties":false}`, true,
		func(ctx context.Context, a struct {
			Path          string
			Offset, Limit int
		}) (agent.Result, error) {
			fileResult, err := f.Toolbox.ReadFile(ctx, toolproto.ReadFileRequest{Path: a.Path, Offset: a.Offset, Limit: a.Limit})
			text := fileResult.PlainText()
			if numbered {
				text = fileResult.Text()
			}
			res := agent.Result{Text: text, Seen: seenFile(fileResult.Path, fileResult.Digest)}
			if !fileResult.Binary && fileResult.Lines > 0 {
				res.FirstLine = fileResult.FirstLine
			}
			return res, err
		})
}

// seenFile returns the record of a file that the agent knows now.
func seenFile(path, digest string) *agent.Seen {
	if digest == "" {
		return nil
	}
	return &agent.Seen{Path: path, Digest: digest}
}

func (f *toolFactory) writeFile() agent.Tool {
	return newTool(f, "write_file",
		`Create a file, or replace all of it.`,
		`{"type":"object","properties":{
"path":{"type":"string","minLength":1},
"content":{"type":"string"}},
"required":["path","content"],"additionalProperties":false}`, false,
		func(ctx context.Context, a struct{ Path, Content string }) (agent.Result, error) {
			fileResult, err := f.Toolbox.WriteFile(ctx, toolproto.WriteFileRequest{Path: a.Path, Content: []byte(a.Content)})
			did := "replaced"
			if fileResult.Created {
				did = "created"
			}
			return agent.Result{Text: fmt.Sprintf(
				"%s %s, %d bytes%s%s", did, fileResult.Path, fileResult.Bytes, describeKept(fileResult.Kept),
				describeParseErrors(fileResult.Syntax)),
				Changed: err == nil, Seen: seenFile(fileResult.Path, fileResult.Digest)}, err
		})
}

func (f *toolFactory) editFile() agent.Tool {
	return newTool(f, "edit_file",
		`Replace old in a file by new. old stands there exactly, and once unless replace_all is set.`,
		`{"type":"object","properties":{
"path":{"type":"string","minLength":1},
"old":{"type":"string","minLength":1},
"new":{"type":"string"},
"replace_all":{"type":"boolean"}},
"required":["path","old","new"],"additionalProperties":false}`, false,
		func(ctx context.Context, a struct {
			Path, Old, New string
			ReplaceAll     bool `json:"replace_all"`
		}) (agent.Result, error) {
			fileResult, err := f.Toolbox.EditFile(ctx,
				toolproto.EditFileRequest{Path: a.Path, Old: a.Old, New: a.New, ReplaceAll: a.ReplaceAll})
			text := fmt.Sprintf("edited %s at line %d", fileResult.Path, fileResult.Line)
			if fileResult.Replacements > 1 {
				text = fmt.Sprintf("edited %s in %d places, the first at line %d", fileResult.Path, fileResult.Replacements,
					fileResult.Line)
			}
			if fileResult.Note != "" {
				text += "\nnote: " + fileResult.Note
			}
			text += describeKept(fileResult.Kept) + describeParseErrors(fileResult.Syntax)
			return agent.Result{Text: text, Changed: err == nil,
				Seen: seenFile(fileResult.Path, fileResult.Digest)}, err
		})
}

// describeKept formats what a written file kept.
func describeKept(kept string) string {
	if kept == "" {
		return ""
	}
	return "\nkept as it was: " + kept
}

// describeParseErrors formats the parse errors of a file that was just written.
func describeParseErrors(errors []string) string {
	if len(errors) == 0 {
		return ""
	}
	return "\nThe file does not parse:\n" + strings.Join(errors, "\n")
}

func (f *toolFactory) searchTool() agent.Tool {
	return newTool(f, "search",
		`Find lines by a regular expression (RE2).`,
		`{"type":"object","properties":{
"pattern":{"type":"string","minLength":1},
"glob":{"type":"string"}},
"required":["pattern"],"additionalProperties":false}`, true,
		func(ctx context.Context, a struct{ Pattern, Glob string }) (agent.Result, error) {
			r, err := f.Toolbox.Search(ctx, toolproto.SearchRequest{Pattern: a.Pattern, Glob: a.Glob})
			return agent.Result{Text: r.Text()}, err
		})
}

func (f *toolFactory) listFiles() agent.Tool {
	return newTool(f, "list_files",
		`List files, or those of a glob (cmd/**).`,
		`{"type":"object","properties":{
"glob":{"type":"string"}},
"additionalProperties":false}`, true,
		func(ctx context.Context, a struct{ Glob string }) (agent.Result, error) {
			r, err := f.Toolbox.ListFiles(ctx, toolproto.ListFilesRequest{Glob: a.Glob})
			return agent.Result{Text: r.Text()}, err
		})
}
