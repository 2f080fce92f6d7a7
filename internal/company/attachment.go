package company

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Attachment is a file attached to an instruction. Its content is a blob.
type Attachment struct {
	Name   string `json:"name"`
	Type   string `json:"type"` // one of AttachmentTypes, found from the content
	Bytes  int    `json:"bytes"`
	Width  int    `json:"width,omitempty"` // of an image, in pixels
	Height int    `json:"height,omitempty"`
	Blob   Hash   `json:"blob"` // SHA-256 of the content
}

// AttachedText is the type of a text file.
const AttachedText = "text/plain"

// AttachmentTypes lists the allowed types of attached files.
var AttachmentTypes = []string{AttachedText, "image/png", "image/jpeg", "image/gif", "image/webp"}

// IsImage reports whether models see it as an image.
func (a Attachment) IsImage() bool { return strings.HasPrefix(a.Type, "image/") }

// Describe returns a description for people and models: "PNG image, 800x600, 33.7 KiB".
func (a Attachment) Describe() string {
	if !a.IsImage() {
		return "text, " + AttachedSize(a.Bytes)
	}
	return fmt.Sprintf("%s image, %dx%d, %s", strings.ToUpper(path.Base(a.Type)), a.Width, a.Height, AttachedSize(a.Bytes))
}

// AttachedSize formats a number of bytes for people. It rounds up, so that a file above a limit is never shown with the
// limit's own size.
func AttachedSize(n int) string {
	unit, name := 1<<10, "KiB"
	switch {
	case n < 1<<10:
		return Count(n, "byte")
	case n >= 1<<20:
		unit, name = 1<<20, "MiB"
	}
	return strconv.FormatFloat(math.Ceil(float64(n)*100/float64(unit))/100, 'f', -1, 64) + " " + name
}

// AttachedFile is an attachment with its content, before an office has stored it.
type AttachedFile struct {
	Attachment
	Content []byte `json:"content,omitempty"`
}

// Limits of attached files. The image limits are those of the strictest vendor: Anthropic takes 5 MiB of base64 an
// image, 8000 pixels a side, and 32 MB a request (docs.anthropic.com/en/docs/vision, read 2026-11). Each request
// contains all files.
const (
	MaxAttachments    = 10
	MaxAttachedText   = 256 << 10
	MaxAttachedImage  = 5 << 20 / 4 * 3
	MaxAttachedPixels = 8000 // of a side
	MaxAttachedBytes  = 16 << 20
	maxAttachedName   = 100
)

// IsAttachmentName reports whether an attached file may have this name. The name is used as a file name in a container,
// and appears in prompts and pull requests.
func IsAttachmentName(name string) bool {
	return name != "" && len(name) <= maxAttachedName && utf8.ValidString(name) && name[0] != '.' && name[0] != '-' &&
		strings.TrimSpace(name) == name &&
		!strings.ContainsFunc(name, func(c rune) bool {
			return !unicode.IsPrint(c) || strings.ContainsRune("/\\<>\"'`|$*?", c)
		})
}

// validateAttachments refuses invalid attached files. Their content was checked before.
func validateAttachments(files []AttachedFile) error {
	refuse := func(what, reason, fix string) error { return E(EInvalid, what).Because(reason).Fix(fix) }
	if len(files) > MaxAttachments {
		return refuse("too many attached files: "+itoa(len(files)),
			fmt.Sprintf("at most %d are allowed", MaxAttachments),
			"attach only what the work needs; put the rest into the repository")
	}
	total, names := 0, []string{}
	for _, attachedFile := range files {
		folded := strings.ToLower(attachedFile.Name)
		switch {
		case !IsAttachmentName(attachedFile.Name):
			return refuse(
				fmt.Sprintf("invalid name of an attached file: %q", cutText(attachedFile.Name, maxAttachedName)),
				"it is empty, too long, or has invalid characters", "rename the file")
		case slices.Contains(names, folded):
			return refuse(fmt.Sprintf("two attached files are named %s", attachedFile.Name),
				"agents tell them apart by name",
				"rename one of them")
		case !slices.Contains(AttachmentTypes, attachedFile.Type):
			return refuse(fmt.Sprintf("%s has the unsupported type %q", attachedFile.Name, cutText(attachedFile.Type, 80)),
				"only texts and images can be attached", "attach UTF-8 text, PNG, JPEG, GIF or WebP")
		case !attachedFile.IsImage() && attachedFile.Bytes > MaxAttachedText:
			return refuse(attachedFile.Name+" has "+AttachedSize(attachedFile.Bytes),
				"the limit for a text is "+AttachedSize(MaxAttachedText),
				"attach the part that matters, or put the file into the repository")
		case attachedFile.Bytes > MaxAttachedImage:
			return refuse(attachedFile.Name+" has "+AttachedSize(attachedFile.Bytes),
				"the limit of models for an image is "+AttachedSize(MaxAttachedImage),
				"scale it down, or crop it")
		case attachedFile.IsImage() &&
			!(0 < attachedFile.Width && attachedFile.Width <= MaxAttachedPixels && 0 < attachedFile.Height &&
				attachedFile.Height <= MaxAttachedPixels),
			!attachedFile.IsImage() && (attachedFile.Width != 0 || attachedFile.Height != 0):
			return refuse(fmt.Sprintf("%s has %dx%d pixels", attachedFile.Name, attachedFile.Width, attachedFile.Height),
				fmt.Sprintf("models accept 1 to %d on each side", MaxAttachedPixels),
				"scale it down, or crop it")
		case attachedFile.Bytes <= 0 || !isBlobHash(attachedFile.Blob):
			return refuse(attachedFile.Name+" has no content", "the file is empty", "leave it out")
		}
		names = append(names, folded)
		total += attachedFile.Bytes
	}
	if total > MaxAttachedBytes {
		return refuse("the attached files have "+AttachedSize(total)+" in total",
			"the limit is "+AttachedSize(MaxAttachedBytes)+": each request to a model includes them",
			"make the images smaller, or attach fewer")
	}
	return nil
}

// isBlobHash reports whether a text is a valid blob name.
func isBlobHash(h Hash) bool {
	return len(h) == 64 && strings.Trim(string(h), "0123456789abcdef") == ""
}

// attachmentsOf returns the attachments without their contents.
func attachmentsOf(files []AttachedFile) []Attachment {
	var out []Attachment
	for _, f := range files {
		out = append(out, f.Attachment)
	}
	return out
}
