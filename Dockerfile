FROM python:3.12
COPY . /app
RUN pip install -r requirements.txt
CMD ["python", "app.py"]
