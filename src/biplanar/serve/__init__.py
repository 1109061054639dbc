"""The server: a page to look at trees, a JSON interface, and the interface of UDPipe's own server."""
