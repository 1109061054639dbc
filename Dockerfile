# The server: docker build -t biplanar . && docker run --rm -p 8001:8001 biplanar
FROM python:3.12 AS build
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
# Machine code is kept for sources of a certain time, of which the layers of an image keep whole seconds.
RUN python -m venv /opt/biplanar \
    && /opt/biplanar/bin/pip install --no-cache-dir --no-compile '.[serve]' -c constraints.txt \
    && find /opt/biplanar/lib -name '*.py' -exec touch -d 2000-01-01 {} + \
    && /opt/biplanar/bin/python -m compileall -q /opt/biplanar/lib

FROM python:3.12-slim
COPY --from=build /opt/biplanar /opt/biplanar
ENV PATH=/opt/biplanar/bin:$PATH NUMBA_CACHE_DIR=/var/cache/biplanar
RUN useradd --system biplanar && install -d -o biplanar /var/cache/biplanar
USER biplanar
# Loading the models compiles all that requests may need.
RUN ["python", "-c", "from biplanar.serve.models import Models; Models.load([])"]
EXPOSE 8001
HEALTHCHECK --start-period=180s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8001/healthz', timeout=5)"]
CMD ["biplanar", "serve", "--host", "0.0.0.0"]
