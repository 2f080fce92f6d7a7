package api

import (
	"mime"
	"net/http"
	"slices"

	"company/internal/company"
)

// attachmentPolicy is what a browser lets an attached file do that it shows as a page.
const attachmentPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

// serveAttachment answers with the content of a file that came with an instruction. A browser
// takes it for an image or for plain text, whatever it holds, and runs nothing of it.
func (s *Server) serveAttachment(w http.ResponseWriter, r *http.Request) {
	f, err := s.source().Attachment(r.Context(), r.PathValue("id"), r.URL.Query().Get("name"))
	if err != nil {
		writeError(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", attachmentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	mediaType := attachedText
	if f.IsImage() && slices.Contains(company.AttachmentTypes, f.Type) {
		mediaType = f.Type
	}
	writeTagged(w, r, mediaType, f.Content, tagOf(f.Content))
}

// attachedText is the type of an answer with an attached file that is no image.
const attachedText = company.AttachedText + "; charset=utf-8"
