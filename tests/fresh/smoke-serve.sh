# shellcheck shell=bash
# Commands that show a run on a page: report, view.

smoke_report() {
	quietly sonde report -o run.html "$RUN"
	want '<html' head -c 2000 run.html
	# The whole page is in the file: the program that draws it, and the run.
	[[ $(wc -c <run.html) -gt 50000 ]]
	fails 1 '' grep 'built without its page' run.html
}

smoke_view() {
	local url
	start url sonde view --port 0 --json "$RUN"
	url=$(field url url)
	http GET "$url" >page
	matches '^HTTP/1.1 (200|30[1-8])' page
	# Without the token there is no way in.
	http GET "http://$(sed -E 's#http://([^/]*).*#\1#' <<<"$url")/api/run" >denied
	matches '^HTTP/1.1 40[13]' denied
	stop
}
