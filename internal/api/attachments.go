package api

import (
	"mime"
	"net/http"
	"slices"

	"company/internal/company"
)

// attachmentPolicy is the content security policy for an attached file that a browser shows as a
// page.
const attachmentPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

// serveAttachment returns the content of an instruction's attached file. A browser treats it as an
// image or plain text, whatever its content, and runs no scripts in it.
func (s *Server) serveAttachment(w http.ResponseWriter, r *http.Request) {
	attachedFile, err := s.source().Attachment(r.Context(), r.PathValue("id"), r.URL.Query().Get("name"))
	if err != nil {
		writeError(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", attachmentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": attachedFile.Name}))
	mediaType := attachedText
	if attachedFile.IsImage() && slices.Contains(company.AttachmentTypes, attachedFile.Type) {
		mediaType = attachedFile.Type
	}
	writeTagged(w, r, mediaType, attachedFile.Content, tagOf(attachedFile.Content))
}

// attachedText is the media type of an attached file that is not an image.
const attachedText = company.AttachedText + "; charset=utf-8"
