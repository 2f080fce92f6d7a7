package toolserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"strings"
	"syscall"

	"company/internal/lib/charset"
	"company/internal/toolbox/toolproto"
)

const nonblock = syscall.O_NONBLOCK

func randomName() string { return rand.Text()[:12] }

func (s *Server) readFile(
	ctx context.Context, fileRequest toolproto.ReadFileRequest,
) (toolproto.ReadFileResult, error) {
	var none toolproto.ReadFileResult
	rel, err := s.resolveFile(ctx, fileRequest.Path)
	if err != nil {
		return none, err
	}
	data, info, err := s.load(fileRequest.Path, rel)
	if err != nil {
		return none, err
	}
	result := toolproto.ReadFileResult{Path: charset.ShowBytes(rel), Size: info.Size(), Digest: s.markKnown(rel, data)}
	if result.Binary = isBinaryFile(data); result.Binary {
		return result, nil
	}
	stored := readStoredText(data)
	text := []byte(stored.text)
	result.TotalLines, result.Encoding = countLines(text), stored.describeEncoding()
	first, limit := max(fileRequest.Offset, 1), fileRequest.Limit
	if limit <= 0 || limit > toolproto.ReadLines {
		limit = toolproto.ReadLines
	}
	if first > 1 && first > result.TotalLines {
		return none, toolproto.Refuse(
			toolproto.KindArgument, "offset %d is after the end of %s, which has %d lines", first, fileRequest.Path,
			result.TotalLines)
	}
	result.FirstLine = first
	var n, end, start int
	for line := range bytes.Lines(text) {
		n++
		if n < first {
			start += len(line)
			end = start
			continue
		}
		if result.Lines == limit || end-start+len(line) > toolproto.ReadBytes {
			break
		}
		end += len(line)
		result.Lines++
	}
	if result.Lines == 0 && start < len(text) {
		// A single line exceeds the limit: return its beginning.
		end = start + toolproto.ReadBytes
		result.Lines = 1
	}
	result.Content = text[start:end]
	result.Truncated = end < len(text)
	return result, nil
}

func (s *Server) writeFile(
	ctx context.Context, fileRequest toolproto.WriteFileRequest,
) (toolproto.WriteFileResult, error) {
	var none toolproto.WriteFileResult
	if len(fileRequest.Content) > toolproto.MaxFile {
		return none, tooLarge(fileRequest.Path, int64(len(fileRequest.Content)))
	}
	rel, err := s.resolveFile(ctx, fileRequest.Path)
	if err != nil {
		return none, err
	}
	s.files.Lock()
	defer s.files.Unlock()
	mode, created := fs.FileMode(0o644), false
	old, info, err := s.load(fileRequest.Path, rel)
	switch refusal := (*toolproto.Refusal)(nil); {
	case err == nil:
		mode = info.Mode()
		if err := s.checkSeen(fileRequest.Path, rel, old); err != nil {
			return none, err
		}
	case errors.As(err, &refusal) && refusal.Kind == toolproto.KindNotFound:
		if _, err := s.root.Lstat(rel); err == nil {
			return none, toolproto.Refuse(
				toolproto.KindArgument, "%s is a symlink to nothing; remove it first", fileRequest.Path)
		}
		created = true
	default:
		return none, err
	}
	stored := readStoredText(old)
	data, err := stored.encodeText(fileRequest.Path, stored.adoptText(string(fileRequest.Content)))
	if err != nil {
		return none, err
	}
	sum, err := s.storeFile(fileRequest.Path, rel, data, mode)
	if err != nil {
		return none, err
	}
	return toolproto.WriteFileResult{Path: charset.ShowBytes(rel), Bytes: len(data), Created: created,
		Kept: stored.describeKept(), Syntax: syntaxErrors(rel, data), Digest: sum}, nil
}

func (s *Server) editFile(
	ctx context.Context, fileRequest toolproto.EditFileRequest,
) (toolproto.EditFileResult, error) {
	var none toolproto.EditFileResult
	rel, err := s.resolveFile(ctx, fileRequest.Path)
	if err != nil {
		return none, err
	}
	s.files.Lock()
	defer s.files.Unlock()
	data, info, err := s.load(fileRequest.Path, rel)
	if err != nil {
		return none, err
	}
	// The replaced text shows that the agent knows this part. If it does not know the whole file, it still may not
	// replace the whole file.
	known := s.checkSeen(fileRequest.Path, rel, data) == nil
	stored := readStoredText(data)
	fileRequest.Old, fileRequest.New = stored.adoptText(fileRequest.Old), stored.adoptText(fileRequest.New)
	edited, err := applyEdit(fileRequest, stored.text)
	if err != nil {
		return none, stored.explainMismatch(err)
	}
	if data, err = stored.encodeText(fileRequest.Path, edited.content); err != nil {
		return none, err
	}
	if len(data) > toolproto.MaxFile {
		return none, tooLarge(fileRequest.Path, int64(len(data)))
	}
	sum, err := s.storeFile(fileRequest.Path, rel, data, info.Mode())
	if err != nil {
		return none, err
	}
	if !known {
		s.forgetKnown(rel)
		sum = ""
	}
	return toolproto.EditFileResult{
		Path: charset.ShowBytes(rel), Replacements: edited.count, Line: edited.line, Note: edited.note,
		Kept: stored.describeKept(), Syntax: syntaxErrors(rel, data), Digest: sum,
	}, nil
}

// countLines counts lines, including a last line without a newline.
func countLines(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// isBinaryFile reports whether a file is not text in any encoding that charset knows.
func isBinaryFile(data []byte) bool {
	encoding := charset.Detect(data)
	return (encoding.IsUTF8() || !encoding.Known()) && isBinary(data)
}

// isBinary reports whether the first 4 KiB contain a NUL, or more than 30 % control characters.
func isBinary(data []byte) bool {
	data = data[:min(len(data), 4<<10)]
	odd := 0
	for _, c := range data {
		if c == 0 {
			return true
		}
		if c < ' ' && !strings.ContainsRune("\t\n\r\f\b\x1b", rune(c)) {
			odd++
		}
	}
	return odd*10 > len(data)*3
}

// syntaxErrors returns up to ten syntax errors of a written Go file. For other files it returns nil.
func syntaxErrors(path string, data []byte) []string {
	if !strings.HasSuffix(path, ".go") {
		return nil
	}
	_, err := parser.ParseFile(token.NewFileSet(), path, data, parser.SkipObjectResolution)
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return nil
	}
	var out []string
	for _, e := range list[:min(10, len(list))] {
		out = append(out, e.Error())
	}
	return out
}
